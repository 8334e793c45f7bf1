"""Clients of the orders API: who is told to come again does, later each time, for as long as it takes."""

from collections import defaultdict
from collections.abc import Generator
from itertools import accumulate
from typing import Any

from bench.scaling.buckets import TokenBucket
from bench.scaling.executions import Executions
from bench.scaling.world import World

_Callers = defaultdict[int, list[float]]
"""Since when each wants an order, by how often it was told to come again."""


class Clients:
    """Many: those who are to come in the same second are kept together, and come evenly during it."""

    def __init__(self, world: World, executions: Executions) -> None:
        setup = world.case.setup
        self._world = world
        self._executions = executions
        self._gateway = TokenBucket(setup.gateway_burst, setup.gateway_rate)
        self._coming: defaultdict[int, _Callers] = defaultdict(_callers)
        """By second."""
        self._new: list[float] = []
        self._refused = _callers()
        """In this second."""

    def send(self, now: float, number: int) -> None:
        self._new += [now] * number

    def tick(self, seconds: float) -> None:
        second, left = self._second(seconds)
        callers = self._calling(second, left)
        calls = sum(map(len, callers.values()))
        admitted = self._gateway.take(self._world.now, calls)
        invoked = self._world.concurrency.take(admitted)
        started = self._world.start(invoked)
        books = self._world.books
        books.tries += calls - admitted
        books.throttled += calls - admitted
        books.refused_invocations += admitted - invoked
        if invoked:
            self._world.env.process(self._accept(self._drawn(callers, started), invoked))
        for tries, arrivals in callers.items():
            self._refused[tries] += arrivals
        if left == 1:
            self._come_again(second + 1)

    def _second(self, tick: float) -> tuple[int, int]:
        """The second that it is, and how many ticks of it are left."""
        ticks_a_second = round(1 / tick)
        second, done = divmod(round(self._world.now / tick), ticks_a_second)
        return second, ticks_a_second - done

    def _calling(self, second: int, left: int) -> _Callers:
        """All that are new, and this tick's share of those who come again in this second."""
        callers = _callers()
        callers[0], self._new = self._new, []
        for tries, arrivals in self._coming[second].items():
            rest = len(arrivals) - len(arrivals) // left
            callers[tries] += arrivals[rest:]
            del arrivals[rest:]
        if left == 1:
            del self._coming[second]
        return callers

    def _drawn(self, callers: _Callers, number: int) -> list[float]:
        """Taken out by lot: a gateway does not know who has waited longest."""
        groups = list(callers.values())
        ends = [0, *accumulate(map(len, groups))]
        drawn, group = [], len(groups) - 1
        for place in sorted(self._world.random.sample(range(ends[-1]), number), reverse=True):
            while place < ends[group]:
                group -= 1
            arrivals, at = groups[group], place - ends[group]
            drawn.append(arrivals[at])
            arrivals[at] = arrivals[-1]
            arrivals.pop()
        return drawn

    def _accept(self, arrivals: list[float], invoked: int) -> Generator[Any, Any, None]:
        yield self._world.env.timeout(self._world.case.setup.seconds("AcceptOrder", effect=0))
        self._world.concurrency.give_back(invoked)
        if arrivals:
            self._executions.begin(arrivals)

    def _come_again(self, next_second: int) -> None:
        """Each group dealt out over the seconds of its longest wait, beginning anywhere: full jitter."""
        assumed = self._world.assumed
        for tries, arrivals in self._refused.items():
            wait = assumed.client_first_wait_seconds * 2**tries
            later = tries + (wait < assumed.client_longest_wait_seconds)
            seconds = int(min(wait, assumed.client_longest_wait_seconds))
            first = self._world.random.randrange(seconds)
            for place in range(min(seconds, len(arrivals))):
                due = next_second + (first + place) % seconds
                self._coming[due][later] += arrivals[place::seconds]
        self._refused = _callers()


def _callers() -> _Callers:
    return defaultdict(list)
