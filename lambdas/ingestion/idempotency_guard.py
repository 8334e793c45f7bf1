"""State IdempotencyGuard: claims the event for this execution, or says why it may not proceed."""

from typing import Any

import wiring
from idempotency.ledger import Clock, Ledger, claim_or_doubt
from idempotency.model import Verdict
from ingestion.delivery import key_of
from telemetry import count, log

# The verdicts whose message the workflow dead-letters: a redriven message must never vanish.
DEAD_LETTERED = frozenset({Verdict.FAILED, Verdict.IN_DOUBT, Verdict.MISMATCH})

DEFAULT_RETENTION_SECONDS = 86_400  # of a direct call; the workflow always passes the setting


def guard(event: dict[str, Any], *, ledger: Ledger, clock: Clock, lease: int) -> dict[str, Any]:
    """Takes {messageId, executionId, businessKey?, namespace?, retentionSeconds?, fingerprint?}.

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
    reason = "claimed" if claim.held else claim.verdict.value
    if claim.verdict is Verdict.ACQUIRED:
        count("Claims")
    elif not claim.held:
        count("Duplicates", State=reason)
        if claim.verdict in DEAD_LETTERED:
            count("DeadLettered", Reason=reason)
    log.info("judged", reason=reason, attempt=claim.record.attempt, owner=claim.record.owner)
    return {
        "proceed": claim.held,
        "reason": reason,
        "idempotencyKey": {"pk": key.pk, "sk": key.sk},
        "attempt": claim.record.attempt,
        "leaseUntil": claim.record.lease_until,
    }


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    return guard(event, ledger=wiring.ledger(), clock=wiring.clock, lease=wiring.number("LEASE_SECONDS"))
