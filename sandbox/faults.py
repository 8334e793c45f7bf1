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
    "DeleteItem": "dynamodb",
    "PutParameter": "ssm",
    "GetParameter": "ssm",
    "GetParametersByPath": "ssm",
    "DeleteParameters": "ssm",
    "GetObject": "s3",
    "SendMessage": "sqs",
    "ChangeMessageVisibility": "sqs",
    "StartExecution": "stepfunctions",
    "DescribeExecution": "stepfunctions",
    "GetExecutionHistory": "stepfunctions",
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
    every_other: bool
    """The first call, not the second, and so on."""
    share: float
    """Of the calls that it would meet, by chance: 0.1 is one in ten."""


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
    """How often it has met a call."""
    lift: Callable[[], object]
    """Takes it back, and with it every fault that meets only calls that this one met."""


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

    def calls(self) -> dict[str, int]:
        """How often each operation was called since the proxy was started, by `<service>:<operation>`."""
        return dict(self._call("GET", "stats")["by_operation"])

    def _add(self, operation: str, where: Where, effect: Mapping[str, Any]) -> Ordered:
        calls = {"service": where.get("service") or _SERVICES[operation], "operation": operation}
        if "body" in where:
            calls["body"] = where["body"]
        rule: dict[str, Any] = {**calls, "times": where.get("times", 1), **effect}
        if "user_agent" in where:
            rule["headers"] = {"user-agent": where["user_agent"]}
        if where.get("every_other"):
            rule["sequence"] = [1, 1]
        if "share" in where:
            rule["probability"] = where["share"]
        (added,) = self._call("PATCH", "rules", [rule])
        return Ordered(
            fired=lambda: self._fired(added["id"]),
            lift=lambda: self._call("DELETE", "rules", [calls]),
        )

    def _fired(self, rule: int) -> int:
        """The proxy's counts know all of it; its list of what came about holds the last 2,000."""
        return sum(each["fired"] for each in self._call("GET", "stats")["by_rule"] if each["id"] == rule)

    def _call(self, method: str, path: str, payload: object = None) -> Any:
        request = urllib.request.Request(
            f"{self._control}/{path}",
            method=method,
            data=None if payload is None else json.dumps(payload).encode(),
            headers={"Content-Type": "application/json"},
        )
        with DIRECT.open(request, timeout=10) as response:
            return json.load(response)
