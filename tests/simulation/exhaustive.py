"""Every interleaving and every mishap of a small scope, depth first, each state gone on from only once.

A run is decided by its choices: who is next, and what becomes of each call. The search repeats a run up to a
choice and takes the next branch there. Two runs are in the same state when the services hold the same and
every actor was told the same so far: our code decides by nothing else. What follows was then seen before.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

from tests.simulation.scheduler import Actor, Fate, Scheduler, Weather

T = TypeVar("T")

State = bytes


class Scope(Protocol):
    def run(self) -> None:
        """Raises Violation where an invariant does not hold."""

    def services(self) -> object:
        """All that the services hold, in a form that is equal when they hold the same."""


@dataclass(slots=True, kw_only=True)
class Explored:
    states: int = 0
    schedules: int = 0


class _SeenBefore(Exception):  # noqa: N818 - no error: there is nothing new beyond
    pass


class Choices(random.Random):
    """Answers every draw with the next of its plan, and beyond its end with the first option.

    `settled` ends the search: whatever is drawn from then on has one answer.
    """

    def __init__(self) -> None:
        super().__init__(0)
        self.plan: list[int] = []
        self.options: list[int] = []
        self.settled = False

    @property
    def beyond(self) -> bool:
        """Whether the run has come to where the search has not been."""
        return len(self.options) >= len(self.plan)

    def choice(self, seq: Sequence[T]) -> T:  # type: ignore[override]
        if len(seq) == 1 or self.settled:
            return seq[0]
        place = len(self.options)
        self.options.append(len(seq))
        if place == len(self.plan):
            self.plan.append(0)
        return seq[self.plan[place]]

    def next_plan(self) -> bool:
        """The next branch, at the latest choice that has one left. False when all is explored."""
        while self.plan and self.plan[-1] + 1 >= self.options[len(self.plan) - 1]:
            self.plan.pop()
        if not self.plan:
            return False
        self.plan[-1] += 1
        self.options = []
        self.settled = False
        return True

    def uniform(self, a: float, b: float) -> float:
        return max(a, b)

    def random(self) -> float:
        return 1.0

    def randint(self, a: int, b: int) -> int:  # noqa: ARG002
        return a

    def sample(self, population: Sequence[T], k: int, **_: Any) -> list[T]:
        return list(population[:k])


@dataclass(frozen=True, slots=True)
class Budget(Weather):
    """How often each fate may still strike; at any call, or not at all."""

    left: dict[Fate, int] = field(default_factory=dict)

    def fate(self, chance: random.Random) -> Fate:
        fate = chance.choice([Fate.GOES, *(each for each, times in self.left.items() if times)])
        if fate is not Fate.GOES:
            self.left[fate] -= 1
        return fate


class Search(Scheduler):
    """A run of the search. `stalls`: before how many calls a process may stop for `longest_stall` seconds."""

    def __init__(
        self,
        choices: Choices,
        seen: set[State],
        mishaps: dict[Fate, int],
        *,
        stalls: int,
        longest_stall: float,
    ) -> None:
        super().__init__(0, ticks=(0,), weather=Budget(left=dict(mishaps), longest_stall=longest_stall))
        self.chance = choices
        self.services: Callable[[], object] = lambda: None
        self._choices = choices
        self._seen = seen
        self._stalls = stalls
        self._told: defaultdict[str, bytes] = defaultdict(bytes)

    def heard(self, answer: object) -> None:
        told = self._told[self.running] + repr(answer).encode()
        self._told[self.running] = blake2b(told, digest_size=16).digest()

    def note(self, what: str) -> None:
        super().note(what)
        self.heard(what)

    def _pass_on(self, wake: float) -> None:
        self.heard("goes on")  # it stands at another place of its code than before
        super()._pass_on(wake)

    def settle(self) -> None:
        self._choices.settled = True

    def _stall(self) -> float:
        if self._stalls and self.chance.choice((False, True)):
            self._stalls -= 1
            self.note("stalls")
            return self.weather.longest_stall
        return 0

    def _choose(self, most: int) -> Actor | None:
        if self._choices.beyond and not self._choices.settled:
            state = self._state()
            if state in self._seen:
                raise _SeenBefore
            self._seen.add(state)
        return super()._choose(most)

    def _state(self) -> State:
        assert isinstance(self.weather, Budget)
        actors = sorted(
            (each.name, self._told[each.name], each.wake, each.process.dead, each.process.given_up)
            for each in self._actors
            if not each.finished
        )
        told = repr((self.now, self._stalls, self.weather.left, self.services(), actors)).encode()
        return blake2b(told, digest_size=16).digest()


def explore(
    made: Callable[[Search], Scope],
    mishaps: dict[Fate, int],
    *,
    stalls: int = 0,
    longest_stall: float = 0,
    progress: Callable[[Explored], None] = lambda _: None,
) -> Explored:
    """Raises the Violation of the first schedule that breaks an invariant."""
    choices, seen, explored = Choices(), set[State](), Explored()
    while True:
        search = Search(choices, seen, mishaps, stalls=stalls, longest_stall=longest_stall)
        scope = made(search)
        search.services = scope.services
        with suppress(_SeenBefore):
            scope.run()
        explored.schedules += 1
        explored.states = len(seen)
        progress(explored)
        if not choices.next_plan():
            return explored
