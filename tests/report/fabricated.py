"""Reports as runs would have written them: of a demo with a workflow, of one without, of chaos."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

from sandbox.chaos.faults import Fault
from sandbox.chaos.verdict import Row
from sandbox.demo.ingestion_plan import Kind, kinds
from sandbox.demo.journal import Moment, What
from sandbox.demo.tally import Run, Story, alone, together
from sandbox.demo.walk import Walk, decided, walked
from stacks.state_machine_files import parsed

_GUARD = ("IdempotencyGuard", "ShouldProceed")
_FAILURE = ("RecordFailure", "ShouldDeadLetter", "DeadLetter", "DeadLettered")
_SKIPPED = (*_GUARD, "SkipDuplicate")

_ENDS: dict[str, tuple[str | None, tuple[str, ...], tuple[str, ...]]] = {
    Kind.LATE: ("IN_DOUBT", ("in-doubt",), (*_GUARD, "SideEffect", "LetInvocationsEnd", *_FAILURE)),
    Kind.REJECTED: ("FAILED", ("rejected",), (*_GUARD, "SideEffect", *_FAILURE)),
    Kind.NOT_JSON: (None, ("invalid-json",), ()),
    Kind.NO_KEY: (None, ("no-key",), ()),
    Kind.TOO_LARGE: (None, ("too-large",), ()),
}
"""Of a kind: the record's state, the reasons of its copies, the states of its execution."""


def ingestion(events: int = 40, *, broken_off: bool = False, **about: Any) -> dict[str, Any]:
    """Half of the events over each semantics, 30 per cent of them sent again."""
    runs = {
        name: _run(name[0].upper(), events // 2, random.Random(name), broken_off=broken_off)  # noqa: S311
        for name in ("at-most-once", "idempotent-downstream")
    }
    about = {"workload": "ingestion", "seed": 1, "duplicates_percent": 30, **about}
    return together(runs, seconds=74.8, **about)


def charges() -> dict[str, Any]:
    """Of a workload that has no workflow."""
    found = {"done": 14, "already done": 5, "in progress": 2, "refused for now": 1, "dead-lettered": 0}
    one = story("A-0001", "accepted")
    seen = {
        "A-0001": moments((0, What.DELIVERY, "sent"), (1, What.EFFECT, "bank: ok"), (2, What.END, "done"))
    }
    run = Run(
        stories=(one,),
        deliveries=1,
        skipped=0,
        seconds=9,
        moments=seen,
        walked=decided("Consumer", found, by="receives"),
    )
    return together({"at-most-once": run}, seconds=9, workload="charges", seed=1, duplicates_percent=0)


def orders(*stories: Story) -> dict[str, Any]:
    """One deployment; nothing was seen of its events but their ends."""
    found = stories or (story("O-1", "accepted"),)
    run = Run(stories=found, deliveries=len(found), skipped=0, seconds=3)
    return alone(run, seconds=3, workload="orders", seed=1, duplicates_percent=0)


def chaos() -> dict[str, Any]:
    rounds = [_round("UpdateItem (claim)", fault, effects=4, done=4) for fault in Fault]
    rounds[0] = _round("UpdateItem (claim)", Fault.THROTTLED, effects=4, done=3, lost=1)
    rounds.append(_round("SendMessage (dead letter)", Fault.THROTTLED, fired=0, dead_lettered=4))
    found = ingestion(20)
    kept = {name: found[name] for name in ("workload", "seed", "seconds", "events", "workflow", "each_event")}
    told = {"killed": 3, "lost": 1, "doubled": 0, "verdict": "failed", "violations": ["A-0001: lost"]}
    return {**kept, **told, "rounds": rounds}


def story(event: str, kind: str, **changed: Any) -> Story:
    done: dict[str, Any] = {"effects": 1, "state": "DONE", "reasons": ()}
    return Story(event=event, kind=kind, **{**done, **changed})


def moments(*told: tuple[float, What, str]) -> tuple[Moment, ...]:
    return tuple(Moment(at=at, what=what, told=words) for at, what, words in told)


def walk(*states: str, succeeded: bool = True) -> Walk:
    return Walk(input={}, states=states, ended=datetime(2026, 3, 1, tzinfo=UTC), succeeded=succeeded)


def _run(prefix: str, events: int, chance: random.Random, *, broken_off: bool) -> Run:
    stories, seen, walks = [], {}, [walk("IdempotencyGuard", succeeded=False)] if broken_off else []
    for number, kind in zip(count(1), kinds(events, chance), strict=False):
        state, reasons, states = _ENDS.get(kind, ("DONE", (), (*_GUARD, "SideEffect")))
        event, sent = f"{prefix}-{number:04}", number / events * 20
        happens = "SideEffect" in states and kind != Kind.REJECTED
        told = [(sent, What.DELIVERY, "sent to the queue")]
        if states:
            ended = sent + chance.uniform(0.4, 3) + (9 if kind is Kind.LATE else 0)
            walks.append(walk(*states))
            told += [(sent + 0.3, What.EFFECT, "downstream: the effect takes place")] if happens else []
            told += [(ended, What.END, f"execution ended: {' → '.join(states)}")]
        if number % 10 < 3:
            again = 40 + sent / 4
            told += [(again, What.DELIVERY, "sent to the queue")]
        if number % 10 < 3 and states and state == "DONE":
            walks.append(walk(*_SKIPPED))
            told += [(again + 0.4, What.SKIPPED, "execution ended: … → SkipDuplicate")]
        stories.append(story(event, kind, effects=int(happens), state=state, reasons=reasons))
        seen[event] = moments(*told)
    return Run(
        stories=tuple(stories),
        deliveries=_number(seen.values(), What.DELIVERY),
        skipped=_number(seen.values(), What.SKIPPED),
        seconds=60,
        moments=seen,
        walked=walked(parsed("ingestion.asl.json"), walks),
    )


def _number(seen: Any, what: What) -> int:
    return sum(moment.what is what for moments in seen for moment in moments)


def _round(operation: str, fault: str, **counts: int) -> dict[str, Any]:
    names: Sequence[str] = ("effects", "done", "dead_lettered", "in_doubt", "failed", "lost", "doubled")
    events = dict.fromkeys(names, 0) | {"events": 4, "fired": 8} | counts
    fired = {"at-most-once": events.pop("fired")}
    return Row(operation=operation, fault=fault, fired=fired, violations=(), **events).report()
