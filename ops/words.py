"""A record in plain words: what is known, what happens next, what a person can do."""

from shlex import quote
from typing import Any

from idempotency.model import Record, Semantics, State
from idempotency.transitions import expired
from ops.audit import when
from ops.workload import Workload


def told(record: Record, *, of: Workload, now: int) -> str:
    at, attempt = when(record.updated_at), f"attempt {record.attempt}"
    until = record.lease_until + of.margin
    match record.state:
        case State.IN_PROGRESS if not expired(until, now):
            said = f"In progress: {attempt} has it, and nobody else may touch it for {until - now} s."
        case State.IN_PROGRESS:
            said = f"Abandoned: {attempt} left no outcome, and its time was over at {when(until)}."
            said += _tried_again(of) if _repeatable(of) else _to_be_resolved(record)
        case State.DONE:
            kept = "" if record.expires_at is None else f" until {when(record.expires_at)}"
            said = f"Done at {at}, {attempt}. Deliveries that still come are skipped{kept}."
        case State.FAILED:
            redrive = "`once dlq redrive` or " if of.stack.has_queue else ""
            said = f"Failed at {at}, {attempt} ({record.reason}): certainly nothing happened."
            said += f" To try it again: {redrive}`once release {quote(record.key.pk)}`."
        case State.IN_DOUBT:
            said = f"In doubt since {at}, {attempt} ({record.reason}): it may have happened."
            # Registrations that were reported wait for a person under both semantics.
            waits = not (_repeatable(of) and of.stack.has_queue)
            said += _to_be_resolved(record) if waits else _tried_again(of)
        case State.RELEASED:
            said = f"Given back at {at} after {attempt}: nobody is at it, and its next delivery is tried."
    if record.unknown:
        said += " Some earlier try may have had its effect."
    return said


def listed(record: Record, *, of: Workload, now: int) -> dict[str, Any]:
    """A record for a table or for machines; times in epoch seconds."""
    return {
        "stack": of.stack.name,
        "key": str(record.key),
        "state": record.state.value,
        "attempt": record.attempt,
        "owner": record.owner,
        "unknown": record.unknown,
        "reason": record.reason,
        "updated_at": record.updated_at,
        "lease_until": record.lease_until,
        "expires_at": record.expires_at,
        "in_words": told(record, of=of, now=now),
    }


def _repeatable(of: Workload) -> bool:
    return of.semantics is Semantics.IDEMPOTENT_DOWNSTREAM


def _to_be_resolved(record: Record) -> str:
    pk = record.key.pk
    return (
        f" It is not tried again by itself: ask the downstream about {pk}, then"
        f" `once resolve {quote(pk)} --applied` or `--not-applied`."
    )


def _tried_again(of: Workload) -> str:
    redrive = " (`once dlq redrive` brings its copies)" if of.stack.has_queue else ""
    return f" Its next delivery{redrive} tries it under the same downstream key."
