"""Carries an operator's word out on records: each in one write on what was seen, with its audit entry."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from idempotency.model import Record, State
from ops import desk
from ops.audit import Entry
from ops.desk import Desk, Place
from ops.store import Stored
from ops.trouble import Trouble

Step = Callable[[Record, Place], Record]  # raises Trouble where there is no such step


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which records are meant: keys, or those in doubt, narrowed down. `older_than` in seconds."""

    keys: Sequence[str] = ()
    reason_code: str | None = None
    older_than: int | None = None

    @property
    def empty(self) -> bool:
        return not self.keys and self.reason_code is None and self.older_than is None


def keys_in(file: Path) -> list[str]:
    """One key a line; blank lines and those that begin with # are none."""
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise Trouble(f"{file} can't be read: {getattr(error, 'strerror', None) or error}") from error
    return [line for line in lines if line and not line.startswith("#")]


def chosen(at: Desk, choice: Choice) -> list[tuple[Place, Stored]]:
    """Raises Trouble for a key without a record: nothing is done by halves because of a slip of the pen."""
    if choice.keys:
        found = [at.one_record(key) for key in dict.fromkeys(choice.keys)]
    else:
        found = [
            (place, stored)
            for place in at.places
            for stored in place.workload.records.waiting(State.IN_DOUBT, now=desk.clock())
        ]
    return [(place, stored) for place, stored in found if _is_meant(stored.record, choice)]


def settle(
    at: Desk, found: Sequence[tuple[Place, Stored]], step: Step, *, what: str, why: str
) -> Iterator[dict[str, Any]]:
    """One answer a record. What can't be done to one is said, and leaves the others alone."""
    for place, stored in found:
        seen = stored.record
        answer = {"stack": place.name, "key": str(seen.key), "was": seen.state.value}
        try:
            wanted = step(seen, place)
            entry = Entry.of(
                at=wanted.updated_at, who=at.aws.who, what=f"{what}: {seen.state} to {wanted.state}", why=why
            )
            place.workload.records.change(seen, wanted, entry)
        except Trouble as trouble:
            yield {**answer, "is": None, "trouble": str(trouble)}
        else:
            yield {**answer, "is": wanted.state.value, "trouble": None}


def _is_meant(record: Record, choice: Choice) -> bool:
    if choice.reason_code is not None and record.reason != choice.reason_code:
        return False
    return choice.older_than is None or record.updated_at <= desk.clock() - choice.older_than


def show(answers: list[dict[str, Any]], console: Console) -> None:
    for each in answers:
        if each["trouble"]:
            console.print(f"left: {each['trouble']}", style="red")
        else:
            console.print(f"{each['key']} in {each['stack']}: {each['was']} is now {each['is']}")
