"""Runs actors one at a time, in an order, at moments and with mishaps that a seed decides.

An actor is code in a greenlet of its own that goes on until it calls something outside its process, sleeps,
or waits; then the scheduler decides who is next, how much time has passed, and what becomes of the call.
Actors of one process die together. Equal seeds make equal runs.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import NoReturn

from greenlet import getcurrent, greenlet

START = 1_800_000_000.0  # epoch seconds
_MOST_STEPS = 20_000
_TICKS = (0, 0, 0.01, 0.1, 1)  # seconds that pass between two steps


class Fate(StrEnum):
    """What becomes of a call that leaves the process."""

    GOES = "goes"
    THROTTLED = "is throttled"  # without effect
    UNHEARD = "goes, unheard"  # has its effect; the caller hears nothing
    LATE = "goes late, unheard"  # has its effect after the caller has given it up
    DIES_BEFORE = "dies before"  # the process ends without the call
    DIES_AFTER = "dies after"  # the process ends after the call's effect
    DIES_LATE = "dies, the call goes late"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """Shares of all calls, between 0 and 1; `stalls`: before how many of them the process stops a while."""

    mishaps: dict[Fate, float] = field(default_factory=dict)
    stalls: float = 0
    longest_stall: float = 0  # seconds

    @classmethod
    def drawn(cls, chance: random.Random, *, longest_stall: float) -> "Weather":
        """Any mix of mishaps, and now and then one that happens all the time; calls that land late reach what
        nothing else does.
        """

        def share(most: float) -> float:
            return chance.choice((0, most / 4, most))

        mishaps: dict[Fate, float] = {fate: share(0.08) for fate in Fate if fate is not Fate.GOES}
        if chance.random() < 0.3:
            mishaps[chance.choice([*mishaps, Fate.LATE, Fate.LATE])] = 0.3
        return cls(mishaps=mishaps, stalls=share(0.15), longest_stall=longest_stall)

    def fate(self, chance: random.Random) -> Fate:
        if not self.mishaps:
            return Fate.GOES
        drawn = chance.random()
        for fate, share in self.mishaps.items():
            if (drawn := drawn - share) < 0:
                return fate
        return Fate.GOES


CALM = Weather()


class Violation(Exception):  # noqa: N818 - what a simulation looks for
    """An invariant that does not hold; shows the run that led there."""


class Killed(BaseException):
    """The end of an actor's process, in the middle of its code. No `except Exception` survives it."""


@dataclass(eq=False, slots=True)
class Process:
    """What its actors share: a wrong clock, and an end. `skew` in seconds, added to what its clock tells.

    `given_up`: whoever waited for it does so no longer, and it goes on for nobody.
    """

    deadline: float = math.inf
    skew: int = 0
    given_up: bool = False
    dead: bool = False


@dataclass(eq=False, slots=True)
class Actor:
    name: str
    body: Callable[[], object]
    wake: float
    process: Process
    lifetime: float
    waits_for: "Sequence[Actor]" = ()
    waits_until: float = math.inf
    finished: bool = False
    coroutine: greenlet | None = None

    @property
    def ready_at(self) -> float:
        if self.process.dead:
            return START
        if not self.waits_for or all(each.finished for each in self.waits_for):
            return self.wake
        return min(self.waits_until, self.process.deadline)


class Scheduler:
    def __init__(
        self,
        seed: int,
        *,
        weather: Weather = CALM,
        ticks: Sequence[float] = _TICKS,
        most_steps: int = _MOST_STEPS,
    ) -> None:
        self.seed = seed
        self.chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self.weather = weather
        self.now = START
        self.trace: list[str] = []
        self._ticks = ticks
        self._most_steps = most_steps
        self._actors: list[Actor] = []
        self._running: Actor | None = None
        self._hub = getcurrent()
        self.steps = 0
        self._failure: BaseException | None = None

    def start(
        self,
        name: str,
        body: Callable[[], object],
        *,
        at: float | None = None,
        lifetime: float = math.inf,
        process: Process | None = None,
        skew: int = 0,
    ) -> Actor:
        """`at`: epoch seconds, or at once. The process, a new one unless one is given, is killed `lifetime`
        seconds after it began.
        """
        process = process or Process(skew=skew)
        actor = Actor(name, body, self.now if at is None else at, process, lifetime)
        self._actors.append(actor)
        return actor

    def run(self) -> None:
        """Until every actor has ended. Raises Violation, or whatever else an actor died of."""
        most = self.steps + self._most_steps
        self._hub = getcurrent()
        try:
            while self._failure is None and (actor := self._choose(most)):
                self._resume(actor)
        finally:
            self._end()
        if self._failure:
            raise self._failure

    def leave(self, what: str) -> Fate:
        """Called by an actor before a call that leaves its process: answers what is to become of the call."""
        self._hand_over(self.now + self._stall())
        fate = self.weather.fate(self.chance)
        self.note(what if fate is Fate.GOES else f"{what}: {fate}")
        return fate

    def pause(self, seconds: float) -> None:
        self._hand_over(self.now + seconds + self._stall())

    def breathe(self) -> None:
        """Lets others go first, in the middle of a call."""
        self._hand_over(self.now)

    def wait_for(self, actors: Sequence[Actor], *, at_most: float = math.inf) -> bool:
        """Whether all of them ended within so many seconds."""
        actor = self._current
        actor.waits_for, actor.waits_until = actors, self.now + at_most
        self._hand_over(self.now)
        actor.waits_for = ()
        return all(each.finished for each in actors)

    def die(self) -> NoReturn:
        """Ends the running actor's process."""
        self._current.process.dead = True
        raise Killed

    def violation(self, message: str) -> Violation:
        return Violation(message + "\n" + "\n".join(self.trace))

    def fail(self, message: str) -> NoReturn:
        """Ends the run, whatever code stands between here and the scheduler."""
        self.note(f"VIOLATION: {message}")
        self._failure = self._failure or self.violation(message)
        self.die()

    def heard(self, answer: object) -> None:
        """What the running actor was answered; an exhaustive search tells states apart by it."""

    def note(self, what: str) -> None:
        self.trace.append(f"{self.now - START:10.2f} s  {self.running:<24} {what}")

    @property
    def running(self) -> str:
        """The name of the actor whose turn it is."""
        return self._running.name if self._running else "-"

    @property
    def process(self) -> Process:
        """That of the running actor."""
        return self._current.process

    def clock(self) -> int:
        """Whole epoch seconds, as the running actor's process has them."""
        now = int(self.now) + (self._running.process.skew if self._running else 0)
        self.heard(now)
        return now

    def time_left(self) -> float:
        """Of the running actor's process."""
        return self._current.process.deadline - self.now

    @property
    def _current(self) -> Actor:
        assert self._running
        return self._running

    def _stall(self) -> float:
        stalls = self.weather.stalls > 0 and self.chance.random() < self.weather.stalls
        return self.chance.uniform(0, self.weather.longest_stall) if stalls else 0

    def _hand_over(self, wake: float) -> None:
        self._pass_on(wake)
        self._die_if_out_of_time()

    def _pass_on(self, wake: float) -> None:
        actor = self._current
        if actor.process.dead:
            raise Killed
        actor.wake = min(wake, actor.process.deadline)
        self._hub.switch()
        if actor.process.dead:
            raise Killed

    def _die_if_out_of_time(self) -> None:
        if self.now >= self.process.deadline:
            self.note("is out of time")
            self.die()

    def _choose(self, most: int) -> Actor | None:
        """None if the run is over."""
        self._actors = [each for each in self._actors if not each.finished]
        if not self._actors:
            return None
        self.steps += 1
        moments = [each.ready_at for each in self._actors]
        soonest = min(moments)
        if self.steps > most or soonest == math.inf:
            raise self.violation("the actors come to no end")
        self.now = max(self.now, soonest)
        ready = [each for each, moment in zip(self._actors, moments, strict=True) if moment <= self.now]
        chosen = ready[0] if len(ready) == 1 else self.chance.choice(ready)
        self.now += self.chance.choice(self._ticks) if len(self._ticks) > 1 else 0
        return chosen

    def _resume(self, actor: Actor) -> None:
        self._running = actor
        if actor.coroutine is None:
            actor.process.deadline = min(actor.process.deadline, self.now + actor.lifetime)
            actor.coroutine = greenlet(partial(self._live, actor))
        actor.coroutine.switch()

    def _live(self, actor: Actor) -> None:
        try:
            if not actor.process.dead:
                actor.body()
        except Killed:
            self.note("ends here")
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is shown where the run was started
            self._failure = self._failure or error
        finally:
            actor.finished = True

    def _end(self) -> None:
        """Lets no actor outlive the run."""
        for actor in self._actors:
            while actor.coroutine and not actor.finished:
                self._running, actor.process.dead = actor, True
                actor.coroutine.switch()
        self._actors = []
        self._running = None
