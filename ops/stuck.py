"""What does not move by itself: in doubt, or in progress past its lease."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from idempotency.model import Record, State
from idempotency.transitions import expired
from ingestion.delivery import key_of
from ops import desk, orders, words
from ops.desk import Desk, Place
from ops.executions import RUNNING, UNFINISHED, input_of

_LOOKED_AT = 50  # executions of each status


def stuck(at: Desk, *, scan: bool) -> list[dict[str, Any]]:
    """Records in doubt, and abandoned ones: of executions that ended or run for too long, or, with `scan`,
    of all.
    """
    now = desk.clock()
    found: list[dict[str, Any]] = []
    for place in at.places:
        records = {record.key: record for record in _records(at, place, now=now, scan=scan)}
        rows = (words.listed(record, of=place.workload, now=now) for record in records.values())
        found += sorted(rows, key=lambda row: row["updated_at"])
    for stack in at.stacks:
        if stack.workload == "orders":
            found += orders.stuck(at, stack)
    return found


def _records(at: Desk, place: Place, *, now: int, scan: bool) -> Iterator[Record]:
    records = place.workload.records
    if scan or records.indexed:
        for stored in records.waiting(State.IN_DOUBT, now=now):
            yield stored.record
    else:
        yield from _among_dead_letters(place, now=now)
    margin = place.workload.margin
    abandoned = (
        (stored.record for stored in place.workload.records.abandoned(now=now, margin=margin))
        if scan
        else _left_behind(at, place, now=now)
    )
    for record in abandoned:
        if record.state is State.IN_PROGRESS and expired(record.lease_until + margin, now):
            yield record


def _among_dead_letters(place: Place, *, now: int) -> Iterator[Record]:
    """Where there is no index: what is in doubt was reported there."""
    try:
        events = [place.workload.event_of(copy) for copy in place.letters.take()]
    finally:
        place.letters.put_back()
    for key in {event.key for event in events if event}:
        stored = place.workload.records.read(key, now=now)
        if stored and stored.record.state is State.IN_DOUBT:
            yield stored.record


def _left_behind(at: Desk, place: Place, *, now: int) -> Iterator[Record]:
    """The records of executions that did not end well, or have not ended."""
    executions = at.executions(place.workload.stack)
    if executions is None:
        return
    for status in (RUNNING, *UNFINISHED):
        for listed in executions.latest(status, most=_LOOKED_AT):
            described = executions.described(listed["executionArn"])
            stored = place.workload.records.read(key_of(input_of(described)), now=now) if described else None
            if stored:
                yield stored.record


def show(found: list[dict[str, Any]], console: Console) -> None:
    if not found:
        console.print("Nothing is stuck.")
        return
    for row in found:
        console.print(f"{row['key']} in {row['stack']}", style="bold")
        console.print(f"  {row['in_words']}")
