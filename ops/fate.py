"""What a redrive does with a copy, judged by the record of its event. Knows no AWS, no clock."""

from dataclasses import dataclass
from enum import StrEnum

from idempotency.model import Record, Semantics, State
from idempotency.transitions import conflicts, expired
from ops.dead_letters import Copy
from ops.workload import Event, Workload

IN_DOUBT = "in-doubt"
"""Reason of copies whose effect may have happened. Such records never expire, but a table can be restored."""


class Action(StrEnum):
    RESEND = "resend"
    RELEASE_AND_RESEND = "release and resend"
    LEAVE = "leave"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    action: Action
    why: str


def fate(
    copy: Copy, event: Event | None, record: Record | None, *, of: Workload, now: int, force: bool = False
) -> Fate:
    """`record` is the event's, None if there is none (or none any more); `force` resends what is too old, and
    what was in doubt and has no record.
    """
    if record and event and conflicts(record, owner="", fingerprint=event.fingerprint):
        return _leave("mismatch: its key is known with other content")
    if not force and _too_old(copy, record, of, now):
        return _leave(
            "too old: its record may be gone when it is judged, and it would be done again; --force"
        )
    if record:
        return _by_state(record, of, now)
    if event and of.semantics is Semantics.AT_MOST_ONCE and copy.reason == IN_DOUBT and not force:
        return _leave("in doubt, and its record is gone: --force if it did not happen, else discard it")
    return _resend("no record" if event else "identifies no event")


def _by_state(record: Record, of: Workload, now: int) -> Fate:
    """A copy of a done event is resent, too: the ledger skips it, and the dead-letter queue is rid of it."""
    match record.state:
        case State.FAILED:
            return Fate(action=Action.RELEASE_AND_RESEND, why=f"failed ({record.reason})")
        case State.RELEASED:
            return _resend("released")
        case State.DONE:
            return _resend("done: it will be skipped")
        case State.IN_PROGRESS if not expired(record.lease_until + of.margin, now):
            return _leave(f"in progress for {record.lease_until + of.margin - now} s yet")
        case State.IN_PROGRESS | State.IN_DOUBT if of.semantics is Semantics.AT_MOST_ONCE:
            return _leave("in doubt: find out whether it happened, then resolve it")
        case State.IN_PROGRESS | State.IN_DOUBT:
            return _resend("in doubt: tried again under the same downstream key")


def _too_old(copy: Copy, record: Record | None, of: Workload, now: int) -> bool:
    """Whether the record may expire while the message still waits on the work queue."""
    gone_at = copy.first_seen_at // 1000 + of.retention
    if record is not None and record.state is State.DONE and record.expires_at is not None:
        gone_at = min(gone_at, record.expires_at)
    return now + of.queue_retention >= gone_at


def _resend(why: str) -> Fate:
    return Fate(action=Action.RESEND, why=why)


def _leave(why: str) -> Fate:
    return Fate(action=Action.LEAVE, why=why)
