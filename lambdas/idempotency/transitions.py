"""The table of the ledger's contract: what each event makes of each record.

Pure: a function takes the stored record and returns it as it has to stand afterwards, or raises LeaseLost.
One that returns the very record it was given found its own earlier write: there is nothing left to do.
Adapters either apply these (memory) or decide the same in the store's own condition and use these
to judge the record that a refused write brought back (DynamoDB).
"""

from dataclasses import replace

from idempotency import results
from idempotency.errors import LeaseLost
from idempotency.model import Claim, Key, Policy, Record, Semantics, State, Verdict

_MAY_HAVE_RUN = (State.IN_PROGRESS, State.IN_DOUBT)


def expired(until: int | None, now: int) -> bool:
    """The one place that says what expired means: `until <= now`; nothing expires without an end."""
    return until is not None and until <= now


def conflicts(stored: Record, *, owner: str, fingerprint: str | None) -> bool:
    """Whether the record is of other content than this delivery; compared where both have a fingerprint."""
    comparable = stored.owner != owner and fingerprint is not None and stored.fingerprint is not None
    return comparable and stored.fingerprint != fingerprint


def completed_by(record: Record | None, owner: str, attempt: int) -> bool:
    """Whether this very attempt completed the record: then only an answer was lost, not the claim."""
    return record is not None and record.state is State.DONE and record.owned_by(owner, attempt)


def claim(
    stored: Record | None,
    *,
    key: Key,
    owner: str,
    now: int,
    lease: int,
    retention: int,
    fingerprint: str | None,
    policy: Policy,
) -> Claim:
    gone = stored is None or expired(stored.expires_at, now)
    if (
        stored is None
        or gone
        or (verdict := _judge(stored, owner, now, fingerprint, policy)) is Verdict.ACQUIRED
    ):
        taken = Record(
            key=key,
            owner=owner,
            attempt=stored.attempt + 1 if stored else 1,
            state=State.IN_PROGRESS,
            lease_until=now + lease,
            expires_at=now + retention,
            updated_at=now,
            unknown=stored is not None and not gone and (stored.unknown or stored.state in _MAY_HAVE_RUN),
            fingerprint=fingerprint,
        )
        return Claim(verdict=Verdict.ACQUIRED, record=taken)
    until = stored.lease_until + policy.margin if verdict is Verdict.IN_PROGRESS else None
    return Claim(verdict=verdict, record=stored, until=until)


def _judge(  # noqa: PLR0911 - one return per cell of the table
    stored: Record, owner: str, now: int, fingerprint: str | None, policy: Policy
) -> Verdict:
    mine = stored.owner == owner
    if conflicts(stored, owner=owner, fingerprint=fingerprint):
        return Verdict.MISMATCH
    match stored.state:
        case State.RELEASED:
            return Verdict.ACQUIRED
        case State.DONE:
            return Verdict.DONE
        case State.FAILED:
            return Verdict.ACQUIRED if policy.retry_failed else Verdict.FAILED
        case State.IN_PROGRESS if not expired(stored.lease_until + policy.margin, now):
            return Verdict.STILL_MINE if mine else Verdict.IN_PROGRESS
        case State.IN_PROGRESS if mine and policy.semantics is Semantics.AT_MOST_ONCE:
            return Verdict.STILL_MINE
        case State.IN_PROGRESS | State.IN_DOUBT:
            repeatable = policy.semantics is Semantics.IDEMPOTENT_DOWNSTREAM
            return Verdict.ACQUIRED if repeatable else Verdict.IN_DOUBT


def renew(
    stored: Record | None, *, key: Key, owner: str, attempt: int, now: int, lease: int, retried: bool = False
) -> Record:
    """`retried`: an earlier try of this attempt may have had its effect, so the record is marked unknown."""
    record = _mine(stored, key, owner, attempt, now)
    if record.state is not State.IN_PROGRESS:
        raise LeaseLost(key, record)
    return replace(record, lease_until=now + lease, updated_at=now, unknown=record.unknown or retried)


def complete(
    stored: Record | None, *, key: Key, owner: str, attempt: int, now: int, retention: int, result: object
) -> Record:
    record = _mine(stored, key, owner, attempt, now)
    if record.state is State.DONE:
        return record
    return replace(
        record,
        state=State.DONE,
        expires_at=now + retention,
        updated_at=now,
        result=results.encode(result),
        reason=None,
    )


def fail(
    stored: Record | None, *, key: Key, owner: str, attempt: int, now: int, retention: int, reason: str
) -> Record:
    """FAILED says that the effect certainly did not happen; a record marked unknown becomes IN_DOUBT."""
    record = _mine(stored, key, owner, attempt, now)
    if record.state is State.FAILED or (record.state is State.IN_DOUBT and record.unknown):
        return record
    if record.state not in _MAY_HAVE_RUN:
        raise LeaseLost(key, record)
    if record.unknown:
        return replace(record, state=State.IN_DOUBT, expires_at=None, updated_at=now, reason=reason)
    return replace(record, state=State.FAILED, expires_at=now + retention, updated_at=now, reason=reason)


def doubt(stored: Record | None, *, key: Key, owner: str, attempt: int, now: int, reason: str) -> Record:
    record = _mine(stored, key, owner, attempt, now)
    if record.state is State.IN_DOUBT:
        return record
    if record.state is not State.IN_PROGRESS:
        raise LeaseLost(key, record)
    return replace(record, state=State.IN_DOUBT, expires_at=None, updated_at=now, reason=reason)


def release(
    stored: Record | None,
    *,
    key: Key,
    owner: str,
    attempt: int,
    now: int,
    retention: int,
    reason: str,
    outcome_unknown: bool = False,
) -> Record:
    """`outcome_unknown`: this attempt may have had its effect; the mark stays with the record."""
    record = _mine(stored, key, owner, attempt, now)
    if record.state is State.RELEASED:
        return record
    if record.state not in _MAY_HAVE_RUN:
        raise LeaseLost(key, record)
    return replace(
        record,
        state=State.RELEASED,
        expires_at=now + retention,
        updated_at=now,
        unknown=record.unknown or outcome_unknown,
        reason=reason,
    )


def _mine(stored: Record | None, key: Key, owner: str, attempt: int, now: int) -> Record:
    if stored is None or expired(stored.expires_at, now):
        raise LeaseLost(key, None)
    if not stored.owned_by(owner, attempt):
        raise LeaseLost(key, stored)
    return stored
