"""State RecordFailure: writes down how this execution failed, and says whether its message is a dead letter.

Runs when no invocation of this execution's effect can still be running. The reasons `done` and `claim-lost`
end the execution; every other reason dead-letters its message.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import wiring
from idempotency.errors import LeaseLost
from idempotency.ledger import Clock, Ledger, current
from idempotency.model import Key, Record, State
from idempotency.transitions import conflicts
from ingestion.delivery import STILL_IN_PROGRESS, key_of
from telemetry import count, log

DONE, CLAIM_LOST = "done", "claim-lost"

_REASONS = {State.FAILED: "rejected", State.IN_DOUBT: "in-doubt", State.RELEASED: "not-applied"}

Mark = Callable[[int], Record]  # takes the attempt that is to be marked


def record_failure(event: dict[str, Any], *, ledger: Ledger, clock: Clock, retention: int) -> dict[str, str]:
    """Takes {executionId, state}: the delivery with the guard's `outcome` and the `error`, if any."""
    delivery, owner = event["state"], event["executionId"]
    key = key_of(delivery)
    error = (delivery.get("error") or {}).get("Error")
    guarded = delivery.get("outcome") or {}
    log.append_keys(event_key=str(key), message_id=delivery["messageId"])
    if guarded.get("proceed"):
        mark = _mark(ledger, key, owner, error, clock, retention)
        reason = _marked(mark, owner, guarded["attempt"])
    else:
        reason = _without_claim(ledger, key, owner, clock, retention, delivery.get("fingerprint"))
    if reason not in (DONE, CLAIM_LOST):
        count("DeadLettered", Reason=reason)
    log.warning("failure recorded", reason=reason, error=error)
    return {"reason": reason}


def _mark(ledger: Ledger, key: Key, owner: str, error: str | None, clock: Clock, retention: int) -> Mark:
    """What the effect said decides; whatever is not known to be harmless is IN_DOUBT."""
    match error:
        case "Rejected":
            write = partial(ledger.fail, retention=retention, reason="rejected")
        case "NotApplied":
            write = partial(ledger.release, retention=retention, reason="not-applied")
        case _:
            write = partial(ledger.doubt, reason="in-doubt")
    return lambda attempt: write(key, owner=owner, attempt=attempt, now=clock())


def _marked(mark: Mark, owner: str, attempt: int) -> str:
    try:
        return _REASONS[mark(attempt).state]
    except LeaseLost as lost:
        stored = lost.record
    if stored is None or stored.state is State.RELEASED:
        return "lease-lost"  # nobody took it over: ending here would lose the event
    if stored.owner != owner:
        count("LostClaims")
        # A claim that arrived late may stand there, after its execution had skipped the event as ours.
        return STILL_IN_PROGRESS if stored.state is State.IN_PROGRESS else CLAIM_LOST
    if stored.state is State.DONE:
        return DONE  # the effect's answer was lost on its way
    if stored.attempt != attempt:
        return _marked(mark, owner, stored.attempt)
    return _REASONS[stored.state]


def _without_claim(
    ledger: Ledger, key: Key, owner: str, clock: Clock, retention: int, fingerprint: str | None
) -> str:
    """The guard gave no answer that lets proceed: no effect ran. It may have claimed all the same."""
    stored = current(ledger, key, now=clock())
    if stored is None:
        return "guard-failed"
    if conflicts(stored, owner=owner, fingerprint=fingerprint):
        return "mismatch"
    if stored.state is State.DONE:
        return DONE
    if stored.owner == owner and stored.state is State.IN_PROGRESS:
        try:
            ledger.release(
                key,
                owner=owner,
                attempt=stored.attempt,
                now=clock(),
                retention=retention,
                reason="guard-failed",
            )
        except LeaseLost:
            log.warning("the claim of a failed guard was gone before it could be released")
    return "in-doubt" if stored.state is State.IN_DOUBT else "guard-failed"


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: Any) -> dict[str, str]:
    return record_failure(
        event, ledger=wiring.ledger(), clock=wiring.clock, retention=wiring.number("RETENTION_SECONDS")
    )
