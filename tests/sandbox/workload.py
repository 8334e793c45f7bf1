"""One deployed ingestion under test, its downstream, and what both tell of an event."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idempotency.keys import digest
from sandbox.aws import Sandbox
from sandbox.demo.ingestion_deployment import Ingestion
from sandbox.downstream import Answer, Call, Downstream
from tests.sandbox.deployed import PAYLOAD_MARKER, Deployed, Message, eventually

NAMESPACE = "ingestion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Message):
    """`key` is the whole key of its record, as logs and the downstream see it."""

    @property
    def key(self) -> str:
        return f"{NAMESPACE}/{self.pk}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message about an event, and the execution that it starts."""

    event: Event
    message_id: str
    execution: str
    sent_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a delivery, seen from outside: `reasons` are those of its event's dead letters."""

    effects: int
    state: str | None
    reasons: tuple[str | None, ...] = ()
    status: str = "SUCCEEDED"


DONE = Outcome(effects=1, state="DONE")


class Workload(Deployed[Ingestion]):
    def __init__(
        self, semantics: str, sandbox: Sandbox, outputs: dict[str, str], downstream: Downstream
    ) -> None:
        super().__init__(semantics, NAMESPACE, sandbox, Ingestion(sandbox, outputs))
        self.downstream = downstream
        self._answers: dict[str, tuple[Answer, ...]] = {}
        self._one_reconciler = threading.Lock()  # on AWS its schedule keeps two runs apart
        downstream.script = self._script

    def event(self, *answers: Answer, **fields: Any) -> Event:
        """A new event; the downstream gives the n-th call for it the n-th answer, later ones the last."""
        event_id = f"{self.semantics}-{next(self._numbers)}"
        self._answers[event_id] = answers or (Answer(),)
        body = json.dumps({"eventId": event_id, "note": PAYLOAD_MARKER, **fields})
        return Event(body=body, pk=f"event:{event_id}")

    def refused_event(self, text: str) -> Event:
        """An event whose body is this text and its own number: no execution will come of it."""
        return Event(body=f"{PAYLOAD_MARKER} {next(self._numbers)} {text}", pk="")

    def send(self, event: Event, *, attributes: Mapping[str, Any] | None = None) -> Delivery:
        sent_at = time.time()
        answer = self.sandbox.client("sqs").send_message(
            QueueUrl=self.outputs["QueueUrl"], MessageBody=event.body, MessageAttributes=attributes or {}
        )
        return self.delivery(event, answer["MessageId"], sent_at=sent_at)

    def send_together(self, events: Sequence[Event]) -> list[Delivery]:
        """In one call; the starter mostly receives them together too."""
        sent_at = time.time()
        answer = self.sandbox.client("sqs").send_message_batch(
            QueueUrl=self.outputs["QueueUrl"],
            Entries=[{"Id": str(n), "MessageBody": event.body} for n, event in enumerate(events)],
        )
        message_ids = {entry["Id"]: entry["MessageId"] for entry in answer["Successful"]}
        return [self.delivery(event, message_ids[str(n)], sent_at=sent_at) for n, event in enumerate(events)]

    def delivery(self, event: Event, message_id: str, *, sent_at: float = 0) -> Delivery:
        """The execution's name is a digest of namespace, key and message (DESIGN: ingestion)."""
        machine = self.outputs["StateMachineArn"].replace(":stateMachine:", ":execution:")
        name = digest([NAMESPACE, event.pk, message_id])
        return Delivery(event=event, message_id=message_id, execution=f"{machine}:{name}", sent_at=sent_at)

    def redrive(self, event: Event) -> Delivery:
        """Plays a native redrive of the event's last dead letter: same body and attributes, new MessageId."""
        letter = self.letters(event)[-1]
        return self.send(event, attributes=letter.attributes)

    def calls(self, event: Event) -> list[Call]:
        return [exchange.call for exchange in self.downstream.calls_of(event.key)]

    def execution(self, delivery: Delivery) -> dict[str, Any] | None:
        client = self.sandbox.client("stepfunctions")
        try:
            return dict(client.describe_execution(executionArn=delivery.execution))
        except client.exceptions.ExecutionDoesNotExist:
            return None

    def states(self, delivery: Delivery) -> list[str]:
        """The states that its execution entered, in order."""
        pages = self.sandbox.client("stepfunctions").get_paginator("get_execution_history")
        events: list[Any] = [
            event for page in pages.paginate(executionArn=delivery.execution) for event in page["events"]
        ]
        return [
            event["stateEnteredEventDetails"]["name"]
            for event in events
            if "stateEnteredEventDetails" in event
        ]

    def ended(self, delivery: Delivery, *, seconds: float = 120) -> dict[str, Any]:
        """Its execution's description, once that has ended."""

        def closed() -> dict[str, Any] | None:
            execution = self.execution(delivery)
            return None if execution is None or execution["status"] == "RUNNING" else execution

        return eventually(closed, seconds=seconds)

    def outcome(self, delivery: Delivery) -> Outcome:
        """Waits for the execution's end; its dead letter was sent before that."""
        status = self.ended(delivery)["status"]
        record = self.record(delivery.event)
        return Outcome(
            effects=self.downstream.effects(delivery.event.key),
            state=record["state"] if record else None,
            reasons=tuple(letter.reason for letter in self.letters(delivery.event)),
            status=status,
        )

    def stop(self, delivery: Delivery) -> None:
        self.sandbox.client("stepfunctions").stop_execution(executionArn=delivery.execution)

    def settled(self, delivery: Delivery) -> None:
        """Returns when nothing of the ended execution can still be running, as the reconciler reckons it."""
        until = self.ended(delivery)["stopDate"].timestamp() + self.deployment.settle_seconds + 1
        time.sleep(max(0.0, until - time.time()))

    def reconcile(self) -> dict[str, int]:
        with self._one_reconciler:
            return self.deployment.reconcile()

    def _script(self, call: Call, nth: int) -> Answer:
        answers = self._answers[json.loads(call.body)["eventId"]]
        return answers[min(nth, len(answers)) - 1]
