"""What a person has found out about an effect nobody knew of: it happened, or it did not."""

from dataclasses import replace

from idempotency.model import Record, State
from idempotency.transitions import expired
from ops.trouble import Trouble


def resolved(record: Record, *, applied: bool, now: int, margin: int, retention: int) -> Record:
    """The record as it has to stand: DONE, or RELEASED and without a doubt. Raises Trouble where the table of
    the contract has no such step.

    Not applied may be said only when nobody can still be at it: what lands later would be done twice.
    """
    until = record.lease_until + margin
    over = expired(until, now)
    match record.state:
        case State.IN_PROGRESS if not over:
            raise Trouble(f"{record.key} is being worked on for {until - now} s yet: wait, then look again")
        case State.IN_DOUBT if not applied and not over:
            raise Trouble(
                f"{record.key}: somebody may still be at it for {until - now} s: wait, then resolve"
            )
        case State.IN_PROGRESS | State.IN_DOUBT:
            pass
        case State.FAILED:
            raise Trouble(f"{record.key} is FAILED, of which nothing is in doubt: release it")
        case _:
            raise Trouble(f"{record.key} is {record.state}: there is nothing to resolve")
    return replace(
        record,
        state=State.DONE if applied else State.RELEASED,
        expires_at=now + retention,
        updated_at=now,
        unknown=record.unknown and applied,
        reason=None,
    )
