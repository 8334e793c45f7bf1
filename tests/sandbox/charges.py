"""Deployed charges under test, their bank and notification endpoint, and what all three tell of a charge."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.aws import Sandbox
from sandbox.demo.charges_plan import charge_due
from sandbox.demo.queued_deployment import QueuedDeployment
from sandbox.downstream import Answer, Call, Downstream
from tests.sandbox.begun_early import IDEMPOTENT_DOWNSTREAM
from tests.sandbox.deployed import PAYLOAD_MARKER, Deployed, Message, eventually

NAMESPACE = "charges"
RECEIVE_LIMIT = 5

BUSY = Answer(status=503, headers={"Retry-After": "1"})
DROPPED = Answer(drop=True)
REJECTED = Answer(status=422)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due(Message):
    """A charge that is due, or a body that claims to be one."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What became of a charge, seen from outside. `debits` is how often the bank was made to debit it:
    under at-most-once it counts repeated calls, too, which the bank leaves without effect.
    """

    debits: int
    state: str | None
    attempt: int | None
    status: str | None = None
    reasons: tuple[str | None, ...] = ()


DONE = End(debits=1, state="DONE", attempt=1, status="DEBITED")


class Charges(Deployed[QueuedDeployment]):
    def __init__(
        self,
        semantics: str,
        sandbox: Sandbox,
        outputs: dict[str, str],
        *,
        bank: Downstream,
        notifications: Downstream,
    ) -> None:
        super().__init__(semantics, NAMESPACE, sandbox, QueuedDeployment(sandbox, outputs))
        self.bank = bank
        self.notifications = notifications
        self.timeout_seconds = int(self.configuration("Consumer")["Timeout"])
        self.deployment.redeliver_after(self.timeout_seconds + 1)
        self._answers: dict[str, tuple[Answer, ...]] = {}
        bank.script = self._script

    def due(self, *answers: Answer, **fields: Any) -> Due:
        """A new charge; the bank gives the n-th call for it the n-th answer, later ones the last."""
        charge_id = f"{self.semantics}-{next(self._numbers)}"
        self._answers[charge_id] = answers or (Answer(),)
        return self._due(charge_id, fields)

    def altered(self, due: Due, **fields: Any) -> Due:
        """The same charge with other content."""
        return self._due(due.id, fields)

    def send(self, *dues: Due) -> list[str]:
        """In one call; the consumer mostly receives them together too. Answers the MessageIds."""
        answer = self.sandbox.client("sqs").send_message_batch(
            QueueUrl=self.outputs["QueueUrl"],
            Entries=[{"Id": str(n), "MessageBody": due.body} for n, due in enumerate(dues)],
        )
        message_ids = {entry["Id"]: entry["MessageId"] for entry in answer["Successful"]}
        return [message_ids[str(n)] for n, _ in enumerate(dues)]

    def deliver(self, *dues: Due, receives: int) -> list[Due]:
        """Invokes the consumer as its queue would at the n-th receive; answers what is not acknowledged."""
        records = [
            {
                "messageId": str(number),
                "receiptHandle": "unknown to the queue",
                "body": due.body,
                "attributes": {
                    "ApproximateReceiveCount": str(receives),
                    "SentTimestamp": f"{time.time():.0f}000",
                },
                "messageAttributes": {},
            }
            for number, due in enumerate(dues)
        ]
        answer = self.sandbox.client("lambda").invoke(
            FunctionName=self.outputs["ConsumerName"], Payload=json.dumps({"Records": records})
        )
        said = json.load(answer["Payload"])
        return [dues[int(failure["itemIdentifier"])] for failure in said["batchItemFailures"]]

    def calls(self, due: Due) -> list[Call]:
        return [exchange.call for exchange in self.bank.calls_of(due.id)]

    def debits(self, due: Due) -> int:
        if self.semantics == IDEMPOTENT_DOWNSTREAM:
            return self.bank.effects(due.id)
        return sum(exchange.answer.takes_effect for exchange in self.bank.calls_of(due.id))

    def end(self, due: Due, *, seconds: float = 120) -> End:
        """Waits until it is done or dead-lettered."""
        eventually(lambda: self._settled(due), seconds=seconds, every=0.2)
        record = self.record(due) or {}
        return End(
            debits=self.debits(due),
            state=record.get("state"),
            attempt=int(record["attempt"]) if record else None,
            status=json.loads(record["result"])["status"] if "result" in record else None,
            reasons=tuple(letter.reason for letter in self.letters(due)),
        )

    def said(self, due: Due) -> list[dict[str, Any]]:
        """What the consumer has logged about the charge so far."""
        return [line for line in self.log_lines("Consumer") if line.get("event_key") == due.pk]

    def said_of(self, message_ids: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
        """What the consumer has logged so far, by message."""
        lines = self.log_lines("Consumer")
        return {
            message_id: [line for line in lines if line.get("message_id") == message_id]
            for message_id in message_ids
        }

    def acknowledged(self, message_ids: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
        """What was logged about each message, once all of them are done, already done or dead-lettered."""

        def last_words() -> Mapping[str, list[dict[str, Any]]] | None:
            said = self.said_of(message_ids)
            ended = ("done", "already done", "dead-lettered")
            return said if all(any(line["message"] in ended for line in said[m]) for m in said) else None

        return eventually(last_words, seconds=150, every=1)

    def lapse(self, *dues: Due) -> None:
        """Lets the leases of these claims have ended a minute ago, whoever holds them."""
        for due in dues:
            self.sandbox.client("dynamodb").update_item(
                TableName=self.outputs["TableName"],
                Key={"pk": {"S": due.pk}, "sk": {"S": NAMESPACE}},
                UpdateExpression="SET leaseUntil = leaseUntil - :passed",
                ExpressionAttributeValues={":passed": {"N": "100"}},
            )

    def _due(self, charge_id: str, fields: Mapping[str, Any]) -> Due:
        body = charge_due(charge_id, **{"accountId": PAYLOAD_MARKER, "note": PAYLOAD_MARKER, **fields})
        return Due(id=charge_id, body=body, pk=f"charge:{charge_id}")

    def _settled(self, due: Due) -> bool:
        record = self.record(due)
        return bool((record and record["state"] == "DONE") or self.letters(due))

    def _script(self, call: Call, nth: int) -> Answer:
        answers = self._answers[json.loads(call.body)["chargeId"]]
        return answers[min(nth, len(answers)) - 1]
