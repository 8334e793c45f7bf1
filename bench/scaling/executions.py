"""Executions of a workflow, in groups that go through their states together until some are refused."""

from collections.abc import Generator
from math import ceil
from typing import Any

from bench.scaling.setup import EFFECTS, FAILURE_STATES
from bench.scaling.world import World

Steps = Generator[Any, Any, None]

_TOGETHER_SECONDS = 0.1  # those that are started meanwhile go on together


class Executions:
    """A throttled transition is late, not failed; a refused invocation is retried as the definition says."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._setup = world.case.setup
        self._beginning: list[float] = []
        self._meetings: dict[tuple[int, int, int], list[float]] = {}
        """Who comes back at which second, into which state, for which try."""

    def begin(self, arrivals: list[float]) -> None:
        """`arrivals`: when the events came that these executions are for."""
        self._world.books.opened(len(arrivals))
        if not self._beginning:
            self._world.env.process(self._begin_together())
        self._beginning += arrivals

    def _begin_together(self) -> Steps:
        yield self._world.env.timeout(_TOGETHER_SECONDS)
        arrivals, self._beginning = self._beginning, []
        yield from self._run(arrivals, position=0, tries=0)

    def _run(self, arrivals: list[float], *, position: int, tries: int) -> Steps:
        world = self._world
        while position < len(self._setup.states):
            yield from self._enter(len(arrivals))
            if function := self._setup.states[position]:
                invoked = self._invoke(len(arrivals))
                if refused := arrivals[invoked:]:
                    self._again(refused, position=position, tries=tries)
                arrivals = arrivals[:invoked]
                if not arrivals:
                    return
                failing = world.down and function in EFFECTS
                yield world.env.timeout(self._setup.seconds(function, effect=world.effect))
                world.concurrency.give_back(invoked)
                if failing:
                    self._again(arrivals, position=position, tries=tries)
                    return
            position, tries = position + 1, 0
        self._end(arrivals, done=True)

    def _again(self, arrivals: list[float], *, position: int, tries: int) -> None:
        """Each after a wait of its own, up to the next whole second: those that meet there go on together."""
        world, setup = self._world, self._setup
        if tries >= setup.retry_attempts:
            world.env.process(self._fail(arrivals))
            return
        most = min(setup.retry_max_delay_seconds, setup.retry_interval_seconds * 2**tries)
        for arrived in arrivals:
            meeting = ceil(world.now + world.random.random() * most), position, tries + 1
            if meeting not in self._meetings:
                self._meetings[meeting] = []
                world.env.process(self._come_back(*meeting))
            self._meetings[meeting].append(arrived)

    def _come_back(self, at: int, position: int, tries: int) -> Steps:
        yield self._world.env.timeout(at - self._world.now)
        arrivals = self._meetings.pop((at, position, tries))
        yield from self._run(arrivals, position=position, tries=tries)

    def _fail(self, arrivals: list[float]) -> Steps:
        yield from self._enter(FAILURE_STATES[self._setup.workload] * len(arrivals))
        self._end(arrivals, done=False)

    def _enter(self, number: int) -> Steps:
        self._world.books.transitions += number
        if late := self._world.transitions.reserve(self._world.now, number):
            yield self._world.env.timeout(late)

    def _invoke(self, wanted: int) -> int:
        """How many get an invocation that can write to the table."""
        world = self._world
        granted = world.concurrency.take(wanted)
        written = world.table.take(world.now, granted)
        world.concurrency.give_back(granted - written)
        world.books.refused_invocations += wanted - written
        return written

    def _end(self, arrivals: list[float], *, done: bool) -> None:
        self._world.books.opened(-len(arrivals))
        self._world.books.ended(arrivals, self._world.now, done=done)
