"""State IdempotencyGuard: claims the event for this execution, or says why it may not proceed."""

from typing import Any

import wiring
from idempotency.ledger import Clock, Ledger, claim_or_doubt
from idempotency.model import Claim, Verdict
from ingestion.delivery import STILL_IN_PROGRESS, key_of
from telemetry import count, log

# The answers whose message the workflow dead-letters: a redriven message must never vanish.
DEAD_LETTERED = frozenset({Verdict.FAILED, Verdict.IN_DOUBT, Verdict.MISMATCH, STILL_IN_PROGRESS})

DEFAULT_RETENTION_SECONDS = 86_400  # of a direct call; the workflow always passes the setting


def guard(event: dict[str, Any], *, ledger: Ledger, clock: Clock, lease: int) -> dict[str, Any]:
    """Takes {messageId, executionId, businessKey?, namespace?, retentionSeconds?, fingerprint?, returned?}.

    The owner is the execution, so that a retried guard finds its own claim and proceeds. Errors of the ledger
    propagate: not claimed.
    """
    key = key_of(event)
    log.append_keys(event_key=str(key), message_id=event["messageId"])
    claim = claim_or_doubt(
        ledger,
        key,
        owner=event["executionId"],
        clock=clock,
        lease=lease,
        retention=int(event.get("retentionSeconds") or DEFAULT_RETENTION_SECONDS),
        fingerprint=event.get("fingerprint"),
    )
    reason = _reason(claim, returned=bool(event.get("returned")))
    if claim.verdict is Verdict.ACQUIRED:
        count("Claims")
    elif not claim.held:
        count("Duplicates", State=claim.verdict.value)
        if reason in DEAD_LETTERED:
            count("DeadLettered", Reason=reason)
    log.info("judged", reason=reason, attempt=claim.record.attempt, owner=claim.record.owner)
    return {
        "proceed": claim.held,
        "reason": reason,
        "idempotencyKey": {"pk": key.pk, "sk": key.sk},
        "attempt": claim.record.attempt,
        "leaseUntil": claim.record.lease_until,
    }


def _reason(claim: Claim, *, returned: bool) -> str:
    """`returned`: the message came back from the dead-letter queue, so it may be the event's only copy.

    It is not skipped for a claim in progress. That may be one that a guard took whose execution had ended
    without hearing of it, and then nobody works under it.
    """
    if claim.held:
        return "claimed"
    if returned and claim.verdict is Verdict.IN_PROGRESS:
        return STILL_IN_PROGRESS
    return claim.verdict.value


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    return guard(event, ledger=wiring.ledger(), clock=wiring.clock, lease=wiring.number("LEASE_SECONDS"))
