"""The dead letters of a stage, grouped by their reasons."""

from typing import Any

from rich.console import Console
from rich.table import Table

from ops.audit import when
from ops.dead_letters import Copy
from ops.desk import Desk, Place

_SAMPLES = 3  # keys that are shown of each group


def grouped(at: Desk, *, most: int) -> list[dict[str, Any]]:
    """One entry for each stack and reason; `most` copies are looked at in each queue."""
    return [group for place in at.places for group in _groups(place, most)]


def _groups(place: Place, most: int) -> list[dict[str, Any]]:
    copies: dict[str, list[Copy]] = {}
    taken = place.letters.take()
    try:
        for _, copy in zip(range(most), taken, strict=False):
            copies.setdefault(copy.reason, []).append(copy)
    finally:
        place.letters.put_back()
    return [
        {
            "stack": place.name,
            "reason": reason,
            "copies": len(group),
            "oldest_seen_at": min(copy.first_seen_at for copy in group) // 1000,
            "keys": sorted({_named(place, copy) for copy in group}),
        }
        for reason, group in sorted(copies.items(), key=lambda item: -len(item[1]))
    ]


def _named(place: Place, copy: Copy) -> str:
    event = place.workload.event_of(copy)
    return str(event.key) if event else f"(no event) message {copy.message_id}"


def show(found: list[dict[str, Any]], console: Console) -> None:
    if not found:
        console.print("No dead letters.")
        return
    table = Table(title="dead letters", title_justify="left")
    for column in ("stack", "reason", "copies", "oldest first seen", "of"):
        table.add_column(column, overflow="fold")
    for group in found:
        keys = group["keys"]
        more = f"\nand {len(keys) - _SAMPLES} more" if len(keys) > _SAMPLES else ""
        table.add_row(
            group["stack"],
            group["reason"],
            str(group["copies"]),
            when(group["oldest_seen_at"]),
            "\n".join(keys[:_SAMPLES]) + more,
        )
    console.print(table)
