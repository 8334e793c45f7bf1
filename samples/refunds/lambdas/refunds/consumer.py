"""The consumer: pays each refund of a batch once, or says in the dead-letter queue why not."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import wiring
from idempotency import keys
from idempotency.errors import AlreadyFailed, InDoubt, InvalidKey, LeaseLost, Mismatch, Rejected
from idempotency.run_once import Guard, Outcome
from queues import dead_letter
from queues.batch import process_batch
from telemetry import count

REASONS: dict[type[Exception], str] = {
    InvalidKey: "no-key",
    Rejected: "rejected",
    AlreadyFailed: "failed",
    InDoubt: "in-doubt",
    Mismatch: "mismatch",
}


class Payments(Protocol):
    def post(self, body: str, *, idempotency_key: str, attempt: int) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    guard: Guard
    payments: Payments
    sqs: Any
    dlq_url: str

    def take(self, record: dict[str, Any]) -> bool:
        """Whether the message may be acknowledged; what is raised keeps it on the queue."""
        try:
            outcome = self._pay_once(record["body"])
        except LeaseLost:
            count("LostClaims")
            raise
        except tuple(REASONS) as refusal:
            reason = next(code for kind, code in REASONS.items() if isinstance(refusal, kind))
            attributes = dead_letter.carried(record)
            dead_letter.send(
                self.sqs, self.dlq_url, body=record["body"], attributes=attributes, reason=reason
            )
            count("DeadLettered", Reason=reason)
            return True
        count("Refunds", Outcome=outcome)
        return outcome is not Outcome.SKIPPED_IN_FLIGHT

    def _pay_once(self, body: str) -> Outcome:
        refund = _parse(body)
        key = f"refund:{keys.business_id(refund, lambda found: found.get('refundId'))}"
        return self.guard.run_exactly_once(
            key,
            lambda claim: self.payments.post(body, idempotency_key=key, attempt=claim.attempt),
            fingerprint=keys.digest([refund.get("amount"), refund.get("currency")]),
        ).outcome


def _parse(body: str) -> dict[str, Any]:
    try:
        refund = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidKey("the body is no JSON") from error
    if not isinstance(refund, dict):
        raise InvalidKey("the body is no object")
    return refund


@cache
def _consumer() -> Consumer:
    guard = Guard(
        ledger=wiring.ledger(),
        namespace=wiring.text("NAMESPACE"),
        clock=wiring.clock,
        new_owner=wiring.token,
        retention=wiring.number("RETENTION_SECONDS"),
        in_flight_ttl=wiring.number("LEASE_SECONDS"),
    )
    return Consumer(
        guard=guard,
        payments=wiring.http_effect("PAYMENT"),
        sqs=wiring.client("sqs"),
        dlq_url=wiring.text("DLQ_URL"),
    )


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_batch(
        event["Records"],
        _consumer().take,
        concurrency=len(event["Records"]),
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
        worst_case_seconds=wiring.number("RECORD_SECONDS"),
    )
