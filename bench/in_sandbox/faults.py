"""What a deployment makes of events whose effects are refused, whose workers die, whose answers get lost."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from bench.in_sandbox.deployed import OURS, Deployed, body_of, event_of
from sandbox.demo.workflow_deployment import BROKEN_OFF
from sandbox.downstream import Answer, Call
from sandbox.process_group import SandboxError

HELD_SECONDS = 2.0  # that the downstream takes to answer: time to kill who waits for it
CLAIM_SECONDS = 0.8  # that a claim takes: time to kill its guard, but over before that is tried again
SEEN_WITHIN_SECONDS = 60
AGAIN_EVERY = 3  # one event in so many of each kind is sent again when all has come to rest


class Kind(StrEnum):
    ORDINARY = "ordinary"
    REFUSED = "refused for now, then accepted"
    UNHEARD = "claimed, but the answer to the claim is lost"
    GUARD_DIES = "claimed, but the guard is killed before it answers"
    EFFECT_DIES = "applied, but the side effect is killed before it answers"


KILLED = 2  # events of each kind whose worker is killed: each has a process of its own
OTHERS = (Kind.REFUSED, Kind.UNHEARD, *[Kind.ORDINARY] * 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Counts of events, as seen from outside. Lost: no effect, and no dead letter that says so."""

    events: int
    deliveries: int
    once: int
    doubled: int
    lost: int
    untold: int
    """Of the lost, those whose executions all succeeded."""
    dead_lettered: int
    """Whether or not the effect took place."""


def plan(prefix: str, events: int) -> dict[str, Kind]:
    """The events' kinds by id."""
    killed = [*[Kind.GUARD_DIES] * KILLED, *[Kind.EFFECT_DIES] * KILLED]
    others = [OTHERS[number % len(OTHERS)] for number in range(events - len(killed))]
    return {f"{prefix}-{number:03}": kind for number, kind in enumerate([*killed, *others])}


def answer(kinds: Mapping[str, Kind], call: Call, nth_call: int) -> Answer:
    """The downstream's script."""
    match kinds[event_of(call.body)]:
        case Kind.REFUSED if nth_call == 1:
            return Answer(status=503, headers={"Retry-After": "1"})
        case Kind.EFFECT_DIES if nth_call == 1:
            return Answer(delay_seconds=HELD_SECONDS)
        case _:
            return Answer()


def endure(name: str, deployed: Deployed, *, events: int) -> Outcome:
    """`name` is that under which it is deployed. Once everything is at rest, some events are sent again."""
    kinds = plan(name, events)
    by_kind = {kind: [each for each in kinds if kinds[each] is kind] for kind in Kind}
    deployed.downstream.script = partial(answer, kinds)
    _let_guards_die(name, deployed, by_kind[Kind.GUARD_DIES])
    _let_effects_die(deployed, by_kind[Kind.EFFECT_DIES])
    for event in by_kind[Kind.UNHEARD]:
        operation, call = claim_of(name, event)
        deployed.sandbox.faults.lost_answer(operation, body=call)
    _send(deployed, (each for kind in dict.fromkeys(OTHERS) for each in by_kind[kind]))
    deployed.rest()
    again = [each for events_of_kind in by_kind.values() for each in events_of_kind[::AGAIN_EVERY]]
    _send(deployed, again)
    deployed.rest()
    return judge(
        kinds,
        effects=deployed.effects_by_event(),
        dead_lettered={event_of(letter.body) for letter in deployed.ingestion.take_dead_letters()},
        broken_off={
            event_of(deployed.ingestion.input_of(execution["executionArn"])["body"])
            for execution in deployed.ingestion.executions(*BROKEN_OFF)
        },
        deliveries=len(kinds) + len(again),
    )


def judge(
    events: Iterable[str],
    *,
    effects: Mapping[str, int],
    dead_lettered: set[str],
    broken_off: set[str],
    deliveries: int,
) -> Outcome:
    """`effects` by event; `broken_off` are the events with an execution that did not succeed."""
    times = {event: effects.get(event, 0) for event in events}
    lost = {event for event, number in times.items() if not number} - dead_lettered
    return Outcome(
        events=len(times),
        deliveries=deliveries,
        once=sum(number == 1 for number in times.values()),
        doubled=sum(number > 1 for number in times.values()),
        lost=len(lost),
        untold=len(lost - broken_off),
        dead_lettered=len(dead_lettered),
    )


def claim_of(name: str, event: str) -> tuple[str, str]:
    """The operation by which the guard claims this event, and the JMESPath expression that knows its calls.

    The first of ours that it meets is the claim; the mark of its end comes later.
    """
    operation, item = ("UpdateItem", "Key") if name == OURS else ("PutItem", "Item")
    return operation, f"ends_with({item}.pk.S, ':{event}')"


def _let_guards_die(name: str, deployed: Deployed, events: list[str]) -> None:
    faults = deployed.sandbox.faults
    claims = [claim_of(name, event) for event in events]
    slow = [faults.latency(operation, CLAIM_SECONDS, body=call) for operation, call in claims]
    _send(deployed, events)
    _await(lambda: all(each.fired() for each in slow))
    deployed.ingestion.kill("IdempotencyGuard")


def _let_effects_die(deployed: Deployed, events: list[str]) -> None:
    _send(deployed, events)
    _await(lambda: {event_of(each.call.body) for each in deployed.downstream.calls} >= set(events))
    deployed.ingestion.kill("SideEffect")


def _send(deployed: Deployed, events: Iterable[str]) -> None:
    deployed.ingestion.send([body_of(event) for event in events])


def _await(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SEEN_WITHIN_SECONDS
    while not happened():
        if time.monotonic() > deadline:
            raise SandboxError(f"a fault did not come about within {SEEN_WITHIN_SECONDS} s")
        time.sleep(0.02)
