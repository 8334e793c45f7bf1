"""One step of a key's log, and the text that a parameter keeps of it."""

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from idempotency import results
from idempotency.model import Key, Record, State

MAX_CHARACTERS = 4096  # of a standard parameter's value (API reference of PutParameter); it is ASCII here

# Of the key, for people who look at the parameter, and of a reason that does not fit; each may take twelve.
_KEPT_CHARACTERS = 100


class Note(StrEnum):
    """What a step says beside repeating the record of the step below it."""

    SWEPT = "SWEPT"  # the sweeper has taken the key
    CLEARED = "CLEARED"  # and has deleted everything below SWEPT
    REPORTED = "REPORTED"  # somebody was told of a FAILED or IN_DOUBT


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Steps count from 1. A step's `record.updated_at` is when the step itself was written."""

    number: int
    record: Record
    note: Note | None = None

    @property
    def swept(self) -> bool:
        return self.note in (Note.SWEPT, Note.CLEARED)


def encode(step: Step) -> str:
    record = step.record
    return text(
        {
            "key": str(record.key)[:_KEPT_CHARACTERS],
            "state": record.state,
            "owner": record.owner,
            "attempt": record.attempt,
            "leaseUntil": record.lease_until,
            "expiresAt": record.expires_at,
            "updatedAt": record.updated_at,
            "unknown": record.unknown,
            "fingerprint": record.fingerprint,
            "result": record.result,
            "reason": record.reason,
            "note": step.note,
        }
    )


def decode(key: Key, number: int, value: str) -> Step:
    found = fields(value)
    record = Record(
        key=key,
        owner=found["owner"],
        attempt=found["attempt"],
        state=State(found["state"]),
        lease_until=found["leaseUntil"],
        expires_at=found.get("expiresAt"),
        updated_at=found["updatedAt"],
        unknown=found["unknown"],
        fingerprint=found.get("fingerprint"),
        result=found.get("result"),
        reason=found.get("reason"),
    )
    note = found.get("note")
    return Step(number=number, record=record, note=Note(note) if note else None)


def fitted(record: Record) -> Record:
    """The record as parameters can hold it, with any note: what is too large is omitted, or cut."""
    size = max(len(encode(Step(number=0, record=record, note=note))) for note in Note)
    if size <= MAX_CHARACTERS:
        return record
    if record.reason is not None:
        return replace(record, reason=record.reason[:_KEPT_CHARACTERS])
    return replace(record, result=results.omitted(f"too large: {size} characters in a parameter"))


def text(found: dict[str, Any]) -> str:
    """Flat JSON. Parameter Store refuses values with `{{…}}`, so braces within texts are escaped."""
    present = {name: value for name, value in found.items() if value is not None}
    inner = json.dumps(present, separators=(",", ":"))[1:-1]
    return "{" + inner.replace("{", "\\u007b").replace("}", "\\u007d") + "}"


def fields(value: str) -> dict[str, Any]:
    """Raises ValueError where the value is none of ours."""
    found = json.loads(value)
    if not isinstance(found, dict):
        raise ValueError("no step of a ledger")  # noqa: TRY004 - bad content, like the JSON errors
    return found
