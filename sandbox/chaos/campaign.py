"""All rounds over one deployment: each operation with each fault, on events of its own; then at random."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic

from sandbox.chaos.faults import Fault
from sandbox.chaos.operation import Arm, Operation
from sandbox.demo.plan import E, Plan

_MORE_AT_RANDOM = 12  # times as many events as any other round has

RoundName = tuple[str, str]
"""The operation and what happens to it, as they stand in the table."""

AT_RANDOM: RoundName = ("all of them", "at random, and workers killed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What was asked for. `only`: texts of which one must be part of a round's name; without any, all are."""

    events: int
    seed: int
    only: tuple[str, ...] = ()

    def holds(self, name: RoundName) -> bool:
        return not self.only or any(text in ": ".join(name) for text in self.only)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round(Generic[E]):
    operation: Operation
    fault: Fault
    events: tuple[E, ...]

    @property
    def name(self) -> RoundName:
        return str(self.operation), str(self.fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRandom(Generic[E]):
    """The last round: all operations fail in all ways by chance, and workers are killed."""

    events: tuple[E, ...]

    @property
    def name(self) -> RoundName:
        return AT_RANDOM


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign(Generic[E]):
    """`overlapping` events are sent again at once, `later` ones when everything has come to rest."""

    rounds: tuple[Round[E], ...]
    at_random: AtRandom[E]
    overlapping: tuple[E, ...]
    later: tuple[E, ...]

    @property
    def all_rounds(self) -> tuple[Round[E] | AtRandom[E], ...]:
        return (*self.rounds, self.at_random) if self.at_random.events else self.rounds

    @property
    def events(self) -> tuple[E, ...]:
        """All that were drawn."""
        own = (event for each in self.rounds if not each.operation.shared for event in each.events)
        return (*own, *self.at_random.events)

    @property
    def plan(self) -> Plan[E]:
        return Plan(events=self.events, overlapping=self.overlapping, later=self.later)

    def armed(self, *when: Arm) -> Iterator[Round[E]]:
        return (each for each in self.rounds if each.operation.arm in when)


def draw(
    operations: Sequence[Operation],
    make: Callable[[int, Any], E],
    kinds: Callable[[int, random.Random], Sequence[StrEnum]],
    *,
    order: Order,
    chance: random.Random,
) -> Campaign[E]:
    """`make` gets numbers from 1; `kinds` draws those of so many events that are to come at random.

    In each round one event overlaps with a duplicate of its own, and one is sent again later; of those at
    random each second one does.
    """
    numbers = iter(range(1, 1_000_000))

    def some(kinds: Sequence[StrEnum]) -> tuple[E, ...]:
        return tuple(make(next(numbers), kind) for kind in kinds)

    rounds = [
        Round(
            operation=operation,
            fault=fault,
            events=operation.shared or some([operation.kind] * _number(operation, order)),
        )
        for operation in operations
        for fault in Fault
        if order.holds((str(operation), str(fault)))
    ]
    by_chance = order.holds(AT_RANDOM)
    at_random = some(kinds(_MORE_AT_RANDOM * order.events, chance)) if by_chance else ()
    drawn = [each.events for each in rounds if not each.operation.shared]
    return Campaign(
        rounds=tuple(rounds),
        at_random=AtRandom(events=at_random),
        overlapping=(*(own[0] for own in drawn), *at_random[::2]),
        later=(*(own[-1] for own in drawn), *at_random[1::2]),
    )


def _number(operation: Operation, order: Order) -> int:
    """Of events. Where one comes after the other, or all of them in one run, more only take more time."""
    return order.events if operation.arm is Arm.SENDING else 1
