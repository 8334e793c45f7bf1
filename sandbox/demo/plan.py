"""Draws a demo's storm: which events there are, and which of them are sent again when."""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from sandbox.downstream import Answer


class Planned(Protocol):
    """An event of any workload: what is sent for it, and what is to happen to it."""

    @property
    def id(self) -> str: ...

    @property
    def kind(self) -> StrEnum: ...

    @property
    def body(self) -> str: ...


E = TypeVar("E", bound=Planned)
K = TypeVar("K", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script(Generic[K]):
    """What a downstream does with the first call for an event of each kind, or with every call of some.

    Anything else it accepts.
    """

    first: Mapping[K, Answer]
    always: Collection[K]

    def answer(self, kind: K, nth_call: int) -> Answer:
        """`nth_call` counts from 1."""
        scripted = nth_call == 1 or kind in self.always
        return self.first.get(kind, Answer()) if scripted else Answer()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Generic[E]):
    """`overlapping` are sent again at once, `later` when everything has come to rest."""

    events: tuple[E, ...]
    overlapping: tuple[E, ...]
    later: tuple[E, ...]

    @property
    def deliveries(self) -> int:
        return len(self.events) + len(self.overlapping) + len(self.later)


def kinds(events: int, shares: Mapping[K, int], chance: random.Random, *, rest: K) -> list[K]:
    """One of each special kind before there is a second, as far as the number of events goes.

    `shares` are per cent of all events; the remaining ones are of the kind `rest`.
    """
    special = [kind for kind, share in shares.items() for _ in range(max(1, round(events * share / 100)))]
    special = special[: max(events // 2, 1)] if len(special) > events // 2 else special
    drawn = special + [rest] * (events - len(special))
    chance.shuffle(drawn)
    return drawn


def plan(
    kinds: Sequence[K],
    make: Callable[[int, K], E],
    *,
    duplicates: int,
    chance: random.Random,
    overlapping_first: tuple[K, ...],
) -> Plan[E]:
    """The same for the same seed of `chance`. `make` gets numbers from 1.

    `duplicates`: per cent of the events; half of them overlap, those of the kinds `overlapping_first` before
    any others.
    """
    planned = [make(number, kind) for number, kind in enumerate(kinds, start=1)]
    chance.shuffle(planned)
    again = round(len(planned) * duplicates / 100)
    overlapping = _sample(planned, again // 2, chance, first=overlapping_first)
    return Plan(
        events=tuple(planned),
        overlapping=overlapping,
        later=_sample(planned, again - len(overlapping), chance),
    )


def _sample(
    events: Sequence[E], number: int, chance: random.Random, *, first: tuple[StrEnum, ...] = ()
) -> tuple[E, ...]:
    favoured = [event for event in events if event.kind in first]
    others = [event for event in events if event.kind not in first]
    chance.shuffle(favoured)
    chance.shuffle(others)
    return tuple((favoured + others)[:number])
