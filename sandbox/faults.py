"""Orders faults from the proxy between the functions and the emulator, and tells which of them came about."""

import json
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from sandbox.process_group import DIRECT

_SERVICES = {
    "UpdateItem": "dynamodb",
    "PutItem": "dynamodb",
    "GetItem": "dynamodb",
    "BatchGetItem": "dynamodb",
    "PutParameter": "ssm",
    "GetParameter": "ssm",
    "GetParametersByPath": "ssm",
    "DeleteParameters": "ssm",
    "GetObject": "s3",
    "SendMessage": "sqs",
    "ChangeMessageVisibility": "sqs",
    "StartExecution": "stepfunctions",
    "DescribeExecution": "stepfunctions",
    "ListExecutions": "stepfunctions",
}


class Where(TypedDict, total=False):
    """Which calls a fault meets, and how often; what is left out does not restrict."""

    service: str
    """The service, where the operation's name alone does not tell it; Step Functions is `stepfunctions`."""
    user_agent: str
    """A part of the User-Agent header: give one function `AWS_SDK_UA_APP_ID=x` and match `app/x`."""
    body: str
    """A JMESPath expression over the request, true where the fault applies: `"Key.pk.S == 'orders:1'"`."""
    times: int | None
    """How often at most, once if left out; None means always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault that was injected: which call of which service it met."""

    service: str
    operation: str
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """A fault as it was ordered, to ask whether it has come about."""

    fired: Callable[[], int]
    """How often it has met a call, since `clear`."""


class Faults:
    """The rules of a running proxy. Faults add up until `clear`; the first that matches a call wins."""

    def __init__(self, proxy: str) -> None:
        """`proxy` is the proxy's URL."""
        self._control = f"{proxy}/_microburst"

    def lost_answer(self, operation: str, **where: Unpack[Where]) -> Ordered:
        """Let the call take effect, then cut the connection before its answer."""
        return self._add(operation, where, {"response": {"abort_bytes": 0}})

    def error(
        self,
        operation: str,
        code: str,
        *,
        status: int | None = None,
        after_seconds: float = 0,
        **where: Unpack[Where],
    ) -> Ordered:
        """Answer with the AWS error `code`; the call never reaches the service."""
        error = {"code": code} if status is None else {"code": code, "status": status}
        return self._add(operation, where, {"error": error, "latency": after_seconds * 1000})

    def reset(self, operation: str, **where: Unpack[Where]) -> Ordered:
        """Cut the connection before the call reaches the service."""
        return self._add(operation, where, {"reset": True})

    def latency(self, operation: str, seconds: float, **where: Unpack[Where]) -> Ordered:
        """Hold the call back before it reaches the service; it does so even if its caller dies meanwhile."""
        return self._add(operation, where, {"latency": seconds * 1000})

    def clear(self) -> None:
        """Forget all faults, and what has come about so far."""
        self._call("POST", "rules", [])
        self._call("DELETE", "fired", [])

    def fired(self) -> list[Fault]:
        """The faults that came about since `clear`, oldest first."""
        return [
            Fault(service=each["service"], operation=each["operation"], action=each["action"])
            for each in self._call("GET", "fired?limit=10000")
        ]

    def _add(self, operation: str, where: Where, effect: Mapping[str, Any]) -> Ordered:
        rule = {
            "service": where.get("service") or _SERVICES[operation],
            "operation": operation,
            "times": where.get("times", 1),
            **effect,
        }
        if "user_agent" in where:
            rule["headers"] = {"user-agent": where["user_agent"]}
        if "body" in where:
            rule["body"] = where["body"]
        (added,) = self._call("PATCH", "rules", [rule])
        return Ordered(
            fired=lambda: len(self._call("GET", f"fired?limit=10000&rule_id={added['id']}")),
        )

    def _call(self, method: str, path: str, payload: object = None) -> Any:
        request = urllib.request.Request(
            f"{self._control}/{path}",
            method=method,
            data=None if payload is None else json.dumps(payload).encode(),
            headers={"Content-Type": "application/json"},
        )
        with DIRECT.open(request, timeout=10) as response:
            return json.load(response)
