"""One event, in words: its record, what operators did, its execution, its copies among the dead letters."""

from typing import Any

from rich.console import Console

from ops import desk, orders, words
from ops.audit import when
from ops.dead_letters import Copy
from ops.deliveries import deliveries
from ops.desk import Desk, Place
from ops.store import Stored
from ops.trouble import Trouble

_MOST_COPIES = 2000  # dead letters that are gone through for those of one event


def show(at: Desk, key: str, *, scan: bool, logged_hours: int = 0) -> list[dict[str, Any]]:
    """One entry for each stack that knows the event. Raises Trouble where none does.

    `scan` reads the whole table of orders, for which a client's key says too little; `logged_hours` looks
    through the functions' logs so far back.
    """
    ordered = [orders.story(at, stack, key, scan=scan) for stack in at.stacks if stack.workload == "orders"]
    found = [
        story for story in (*(_story(at, place, key, logged_hours) for place in at.places), *ordered) if story
    ]
    if not found:
        names = ", ".join(stack.name for stack in at.stacks)
        hint = "; an order is found by its key with --scan" if ordered and not scan else ""
        raise Trouble(
            f"nothing is known of {key} in {names}: no record, and no copy among the dead letters{hint}"
        )
    return found


def _story(at: Desk, place: Place, key: str, logged_hours: int) -> dict[str, Any] | None:
    now = desk.clock()
    stored = place.find(key, now=now)
    copies, looked = _copies(place, key)
    if stored is None and not copies:
        return None
    story: dict[str, Any] = {"stack": place.name, "key": str(stored.record.key) if stored else key}
    if stored and logged_hours:
        since, stack = now - 3_600 * logged_hours, place.workload.stack
        story["logged"] = deliveries(at.aws, stack, stored.record.key, since=since)
    executions = at.executions(place.workload.stack)
    if stored:
        story |= {
            "record": words.listed(stored.record, of=place.workload, now=now),
            "result": stored.record.result,
            "audit": _trail(stored),
            "execution": executions.told(stored.record.owner) if executions else None,
        }
    else:
        story["in_words"] = "No record: it was never claimed, or its record has expired."
    return story | {"copies": copies, "dead_letters_looked_at": looked}


def _trail(stored: Stored) -> list[dict[str, Any]]:
    return [
        {"at": entry.at, "who": entry.who, "what": entry.what, "why": entry.why} for entry in stored.trail
    ]


def _copies(place: Place, key: str) -> tuple[list[dict[str, Any]], bool]:
    """The event's copies, and whether they were looked for: not among too many."""
    if place.letters.depth() > _MOST_COPIES:
        return [], False
    wanted = set(place.workload.keys(key))
    try:
        copies = [copy for copy in place.letters.take() if _key_in(place, copy, wanted)]
    finally:
        place.letters.put_back()
    return [
        {"message_id": each.message_id, "reason": each.reason, "first_seen_at": each.first_seen_at // 1000}
        for each in copies
    ], True


def _key_in(place: Place, copy: Copy, wanted: set[Any]) -> bool:
    event = place.workload.event_of(copy)
    return event is not None and event.key in wanted


def draw(found: list[dict[str, Any]], console: Console) -> None:
    for story in found:
        console.print(f"{story['key']} in {story['stack']}", style="bold")
        console.print(f"  {story['record']['in_words'] if 'record' in story else story['in_words']}")
        if story.get("result"):
            console.print(f"  It answered: {story['result']}")
        for entry in story.get("audit", []):
            text = f"  {when(entry['at'])}: {entry['what']}, by {entry['who']}, because: {entry['why']}"
            console.print(text)
        for line in story.get("logged", []):
            said = ", ".join(
                f"{name} {value}" for name, value in line.items() if name not in ("at", "message")
            )
            console.print(f"  {when(line['at'])}: logged: {line['message']} ({said})")
        _draw_execution(story.get("execution"), console)
        _draw_copies(story, console)


def _draw_execution(execution: dict[str, Any] | None, console: Console) -> None:
    if execution is None:
        return
    end = f", ended {when(execution['stopped_at'])}" if execution["stopped_at"] else ""
    console.print(f"  Its execution {execution['arn']}")
    console.print(f"  {execution['status']}, began {when(execution['started_at'])}{end}:")
    for step in execution["story"]:
        said = step.get("state") or f"{step['error']}: {step['cause']}"
        console.print(f"    {when(step['at'])}  {said}")


def _draw_copies(story: dict[str, Any], console: Console) -> None:
    if "copies" not in story:  # of orders there are none
        return
    if not story["dead_letters_looked_at"]:
        console.print(
            "  Its dead letters were not looked for: there are too many. `once dlq list` shows them."
        )
    elif not story["copies"]:
        console.print("  No copy among the dead letters.")
    for copy in story["copies"]:
        seen = when(copy["first_seen_at"])
        console.print(f"  A copy is among the dead letters: {copy['reason']}, first seen {seen}.")
