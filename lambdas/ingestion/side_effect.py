"""State SideEffect: causes the effect under a live claim and completes the record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import wiring
from idempotency.errors import LeaseLost, OutcomeUnknown
from idempotency.ledger import Clock, Ledger
from idempotency.model import Key, Semantics
from idempotency.transitions import completed_by
from ingestion.effect import Event, effect
from telemetry import count, log


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Seconds, and what becomes of an effect whose outcome is unknown."""

    semantics: Semantics
    lease: int
    retention: int
    task_timeout: int


def perform(
    event: dict[str, Any],
    *,
    cause: Callable[[Event], object],
    ledger: Ledger,
    clock: Clock,
    terms: Terms,
) -> dict[str, str]:
    """Raises LeaseLost before the effect if the claim is gone; what the effect raises propagates."""
    key = Key(**event["idempotencyKey"])
    owner, attempt = event["executionId"], event["attempt"]
    log.append_keys(event_key=str(key), message_id=event["messageId"])
    redriven = bool(event.get("redriveCount"))
    if redriven and terms.semantics is Semantics.AT_MOST_ONCE:
        raise OutcomeUnknown("redriven: the try that was interrupted may have had its effect")
    retried = redriven or bool(event.get("retryCount"))
    try:
        if retried or event["leaseUntil"] < clock() + terms.task_timeout:
            repeated = retried and terms.semantics is Semantics.IDEMPOTENT_DOWNSTREAM
            ledger.renew(key, owner=owner, attempt=attempt, now=clock(), lease=terms.lease, retried=repeated)
        result = _caused(
            cause, Event(key=str(key), attempt=attempt, message_id=event["messageId"], body=event["body"])
        )
        ledger.complete(
            key, owner=owner, attempt=attempt, now=clock(), retention=terms.retention, result=result
        )
    except LeaseLost as lost:
        if not completed_by(lost.record, owner, attempt):
            count("LostClaims")
            raise
    count("Done")
    log.info("done", attempt=attempt)
    return {"reason": "done"}


def _caused(cause: Callable[[Event], object], event: Event) -> object:
    try:
        return cause(event)
    except Exception as error:
        log.warning("the effect failed", error=type(error).__name__, attempt=event.attempt)
        raise


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: Any) -> dict[str, str]:
    return perform(
        event,
        cause=effect,
        ledger=wiring.ledger(),
        clock=wiring.clock,
        terms=Terms(
            semantics=wiring.semantics(),
            lease=wiring.number("LEASE_SECONDS"),
            retention=wiring.number("RETENTION_SECONDS"),
            task_timeout=wiring.number("TASK_TIMEOUT_SECONDS"),
        ),
    )
