"""The consumer: reads each message, delegates, maps the outcome to ack, no ack, or dead letter and ack."""

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

import wiring
from charges import charge_due_event
from charges.core_banking import CoreBanking
from charges.model import InvalidCharge
from charges.notifications import Notifications
from charges.service import ChargeRecovery, Dead, Outcome, Retry, Settled, Terms, Wait
from idempotency.errors import LeaseLost
from idempotency.ledger import Clock
from queues import dead_letter
from queues.batch import process_batch
from telemetry import count, log

UNSTARTED_VISIBILITY_SECONDS = 5
LONGEST_VISIBILITY_SECONDS = 43_000  # SQS counts 12 hours (43,200 s) from the receive, not from this call
FIRST_RETRY_SECONDS = 10
LONGEST_RETRY_SECONDS = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """`max_receive_count` is the queue's: a message that fails on its last receive is forwarded."""

    recovery: ChargeRecovery
    sqs: Any
    queue_url: str
    dlq_url: str
    max_receive_count: int
    clock: Clock

    def take(self, record: dict[str, Any]) -> bool:
        """Whether the message may be acknowledged; raises what keeps it on the queue as it is."""
        try:
            charge = charge_due_event.parse(record["body"])
        except InvalidCharge as invalid:
            return self._bury(record, f"invalid-{invalid.field}", event_key=None)
        receives = int(record["attributes"]["ApproximateReceiveCount"])
        try:
            outcome = self.recovery.recover(
                charge, owner=wiring.token(), last_chance=receives >= self.max_receive_count
            )
        except LeaseLost:
            count("LostClaims")
            raise
        return self._settle(record, outcome, receives, event_key=f"charge:{charge.id}")

    def set_aside(self, record: dict[str, Any]) -> None:
        """For a record that there was no time to start."""
        self._hide(record, UNSTARTED_VISIBILITY_SECONDS)

    def _settle(self, record: dict[str, Any], outcome: Outcome, receives: int, *, event_key: str) -> bool:
        match outcome:
            case Settled(status=None):
                count("Duplicates", State="done")
                log.info("already done", event_key=event_key, message_id=record["messageId"])
                return True
            case Settled(status=status):
                count("Done", Status=str(status))
                log.info("done", event_key=event_key, message_id=record["messageId"], status=status)
                return True
            case Dead(reason=reason):
                return self._bury(record, reason, event_key=event_key)
            case Wait(until=until):
                seconds = max(1, until - self.clock())
                log.info("in progress", event_key=event_key, message_id=record["messageId"], until=until)
            case Retry():
                seconds = min(FIRST_RETRY_SECONDS * 2 ** (receives - 1), LONGEST_RETRY_SECONDS)
                log.info("refused for now", event_key=event_key, message_id=record["messageId"])
        self._hide(record, seconds + random.randint(0, 5 + seconds // 10))  # noqa: S311 - to spread them
        return False

    def _bury(self, record: dict[str, Any], reason: str, *, event_key: str | None) -> bool:
        dead_letter.send(
            self.sqs, self.dlq_url, body=record["body"], attributes=dead_letter.carried(record), reason=reason
        )
        count("DeadLettered", Reason=reason)
        log.warning("dead-lettered", reason=reason, event_key=event_key, message_id=record["messageId"])
        return True

    def _hide(self, record: dict[str, Any], seconds: int) -> None:
        """If SQS does not take it, the message comes back after the queue's own visibility timeout."""
        try:
            self.sqs.change_message_visibility(
                QueueUrl=self.queue_url,
                ReceiptHandle=record["receiptHandle"],
                VisibilityTimeout=min(seconds, LONGEST_VISIBILITY_SECONDS),
            )
        except (BotoCoreError, ClientError) as error:
            log.warning("visibility not changed", error=type(error).__name__, message_id=record["messageId"])


@cache
def _consumer() -> Consumer:
    terms = Terms(
        semantics=wiring.semantics(),
        namespace=wiring.text("NAMESPACE"),
        lease=wiring.number("LEASE_SECONDS"),
        margin=wiring.number("MARGIN_SECONDS"),
        retention=wiring.number("RETENTION_SECONDS"),
    )
    recovery = ChargeRecovery(
        ledger=wiring.ledger(),
        bank=CoreBanking(wiring.http_effect("CORE_BANKING")),
        notifications=Notifications(wiring.http_effect("NOTIFICATION")),
        clock=wiring.clock,
        terms=terms,
    )
    return Consumer(
        recovery=recovery,
        sqs=wiring.client("sqs"),
        queue_url=wiring.text("QUEUE_URL"),
        dlq_url=wiring.text("DLQ_URL"),
        max_receive_count=wiring.number("MAX_RECEIVE_COUNT"),
        clock=wiring.clock,
    )


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    consumer = _consumer()
    return process_batch(
        event["Records"],
        consumer.take,
        unstarted=consumer.set_aside,
        concurrency=wiring.number("CONCURRENCY"),
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
        worst_case_seconds=wiring.number("RECORD_SECONDS"),
    )
