"""The port: a workload's records as an operator reads and changes them, wherever they are kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from idempotency.model import Key, Record, State
from ops.audit import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A record and what operators did to it, oldest first. A key that is used anew keeps the trail."""

    record: Record
    trail: tuple[Entry, ...] = ()


class Store(Protocol):
    """Times and durations in seconds. Expired records, which may be deleted late, are none."""

    @property
    def indexed(self) -> bool:
        """Whether `waiting` costs what it finds; else it reads everything."""

    def read(self, key: Key, *, now: int) -> Stored | None: ...

    def waiting(self, state: State, *, now: int) -> Iterator[Stored]: ...

    def count(self, state: State, *, now: int) -> int: ...

    def abandoned(self, *, now: int, margin: int) -> Iterator[Stored]:
        """In progress past lease and margin. Reads everything: what is in progress is in no index."""

    def change(self, seen: Record, wanted: Record, entry: Entry) -> None:
        """One write, provided that the record is still what was seen; it brings its audit entry along.

        It knows itself when its answer was lost and it is sent again. Raises Trouble where somebody else has
        changed the record.
        """
