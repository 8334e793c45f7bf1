"""Gives an event that failed back, so that its next delivery is tried again."""

from dataclasses import replace

from idempotency.model import Record, State
from ops.trouble import Trouble

FOR_NEW_CONTENT = "released for new content"  # in the audit trail, where a redrive looks for it


def released(record: Record, *, now: int, retention: int, accept_new_content: bool = False) -> Record:
    """The record as it has to stand: RELEASED. Raises Trouble unless it is FAILED.

    `accept_new_content` drops the fingerprint: whatever comes next under this key is the event.
    """
    match record.state:
        case State.FAILED:
            return replace(
                record,
                state=State.RELEASED,
                expires_at=now + retention,
                updated_at=now,
                fingerprint=None if accept_new_content else record.fingerprint,
                reason=None,
            )
        case State.IN_DOUBT:
            raise Trouble(f"{record.key} is IN_DOUBT: find out whether it happened, then resolve it")
        case _:
            raise Trouble(f"{record.key} is {record.state}: only what FAILED can be released")
