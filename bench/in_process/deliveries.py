"""Deliveries to the shipped functions in this process, as SQS and Step Functions would make them."""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from itertools import count
from typing import Any, Protocol

import wiring
from bench.in_process import shipped
from bench.in_process.shipped import NOWHERE
from bench.in_process.workflow import Path, Workflow
from charges import consumer
from ingestion import idempotency_guard, side_effect, starter
from stacks.ingestion_definition import ingestion_definition

_numbers = count(1)


class Invocations:
    """Invokes functions; `seconds` is the processor time that they took, their threads' included."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def invoke(self, handler: Callable[[Any, Any], Any], event: dict[str, Any]) -> Any:
        with NOWHERE.open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):  # metrics are lines
            begun = time.process_time()
            answer = handler(event, shipped.CONTEXT)
            self.seconds += time.process_time() - begun
        return answer

    def deliver(self, handler: Callable[[Any, Any], Any], bodies: Sequence[str]) -> None:
        """One batch, each body in a message of its own, as a producer that resends makes it."""
        answer = self.invoke(handler, {"Records": [_message(body) for body in bodies]})
        if answer["batchItemFailures"]:
            raise RuntimeError(f"{len(answer['batchItemFailures'])} of {len(bodies)} messages failed")


class Workload(Protocol):
    """Within its environment of `shipped`."""

    invocations: Invocations

    def body(self, event: str, *, size: int = 0) -> str:
        """Of the event with this id; `size` bytes long, if that is more than it needs."""
        ...

    def deliver(self, bodies: Sequence[str]) -> list[Path]:
        """One batch, handled to its end; answers which states each message entered, where there are any."""
        ...


class Ingestion:
    """Starter → workflow (IdempotencyGuard → SideEffect or SkipDuplicate) → downstream."""

    def __init__(self, url: str) -> None:
        self.invocations = Invocations()
        self._started: list[dict[str, str]] = []
        wiring.client("stepfunctions").meta.events.register(
            "provide-client-params.sfn.StartExecution", lambda params, **_: self._started.append(params)
        )
        self._workflow = Workflow(
            ingestion_definition(shipped.settings(url).ingestion),
            {
                "IdempotencyGuard": lambda given: self.invocations.invoke(idempotency_guard.handler, given),
                "SideEffect": lambda given: self.invocations.invoke(side_effect.handler, given),
            },
        )

    def body(self, event: str, *, size: int = 0) -> str:
        return _padded({"eventId": event}, size)

    def deliver(self, bodies: Sequence[str]) -> list[Path]:
        self.invocations.deliver(starter.handler, bodies)
        started, self._started[:] = list(self._started), []
        machine = shipped.MACHINE.replace(":stateMachine:", ":execution:")
        return [self._workflow.run(f"{machine}:{each['name']}", each["input"]) for each in started]


class Charges:
    """The consumer → core banking → notifications."""

    def __init__(self) -> None:
        self.invocations = Invocations()

    def body(self, event: str, *, size: int = 0) -> str:
        charge = {
            "chargeId": event,
            "accountId": "ACC-1",
            "amount": "12.50",
            "currency": "EUR",
            "type": "FEE",
            "dueAt": "2026-01-31T00:00:00+00:00",
        }
        return _padded(charge, size)

    def deliver(self, bodies: Sequence[str]) -> list[Path]:
        self.invocations.deliver(consumer.handler, bodies)
        return []


def _message(body: str) -> dict[str, Any]:
    number = next(_numbers)
    return {
        "messageId": f"00000000-0000-4000-8000-{number:012}",
        "receiptHandle": f"receipt-{number}",
        "body": body,
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1767225600000"},
        "messageAttributes": {},
    }


def _padded(event: dict[str, str], size: int) -> str:
    """Words, not one long run of a letter: what has to be escaped or compressed behaves like text."""
    missing = size - len(json.dumps(event | {"note": ""}))
    if missing <= 0:
        return json.dumps(event)
    return json.dumps(event | {"note": ("lorem ipsum, " * (missing // 13 + 1))[:missing]})
