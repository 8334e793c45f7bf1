"""Runs actors one at a time, in an order, at moments and with mishaps that a seed decides.

An actor is code in a thread of its own that holds the baton until it calls something outside its process, or
sleeps; then the scheduler decides who goes on, how much time has passed, and what becomes of the call.
Equal seeds make equal runs.
"""

import math
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

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

    def fate(self, chance: random.Random) -> Fate:
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
class _Actor:
    name: str
    body: Callable[[], None]
    wake: float
    lifetime: float
    deadline: float = math.inf
    doomed: bool = False
    finished: bool = False
    thread: threading.Thread | None = None
    baton: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


class Scheduler:
    def __init__(self, seed: int, *, weather: Weather = CALM) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self.weather = weather
        self.now = START
        self.trace: list[str] = []
        self._actors: list[_Actor] = []
        self._running: _Actor | None = None
        self._over = threading.Semaphore(0)
        self._steps = 0
        self._failure: BaseException | None = None

    def start(self, name: str, body: Callable[[], None], *, at: float, lifetime: float = math.inf) -> None:
        """`at`: epoch seconds. The process is killed `lifetime` seconds after it began."""
        self._actors.append(_Actor(name, body, at, lifetime))

    def run(self) -> None:
        """Until every actor has ended. Raises Violation, or whatever else an actor died of."""
        self._steps = 0
        self._pass_on(None)
        self._over.acquire()
        if self._failure:
            self._end()
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

    def die(self) -> NoReturn:
        """Ends the running actor's process."""
        assert self._running
        self._running.doomed = True
        raise Killed

    def violation(self, message: str) -> Violation:
        return Violation(message + "\n" + "\n".join(self.trace))

    def fail(self, message: str) -> NoReturn:
        """Ends the run, whatever code stands between here and the scheduler."""
        self.note(f"VIOLATION: {message}")
        self._failure = self._failure or self.violation(message)
        self.die()

    def note(self, what: str) -> None:
        self.trace.append(f"{self.now - START:10.2f} s  {self.running:<24} {what}")

    @property
    def running(self) -> str:
        """The name of the actor that has the baton."""
        return self._running.name if self._running else "-"

    def time_left(self) -> float:
        """Of the running actor's process."""
        assert self._running
        return self._running.deadline - self.now

    def _stall(self) -> float:
        stalls = self.chance.random() < self.weather.stalls
        return self.chance.uniform(0, self.weather.longest_stall) if stalls else 0

    def _hand_over(self, wake: float) -> None:
        actor = self._running
        assert actor
        if not actor.doomed:
            actor.wake = min(wake, actor.deadline)
            self._pass_on(actor)
            if self.now >= actor.deadline:
                self.note("is out of time")
                actor.doomed = True
        if actor.doomed:
            raise Killed

    def _pass_on(self, actor: _Actor | None) -> None:
        """Gives the baton to whoever is next; comes back when `actor` has it again."""
        self._running = chosen = self._choose()
        if chosen is actor is not None:
            return
        if chosen:
            self._hand_baton(chosen)
        else:
            self._over.release()
        if actor:
            actor.baton.acquire()

    def _choose(self) -> _Actor | None:
        """None if the run is over."""
        self._actors = [each for each in self._actors if not each.finished]
        self._steps += 1
        if self._steps > _MOST_STEPS and not self._failure:
            self._failure = self.violation("the actors come to no end")
        if self._failure or not self._actors:
            return None
        self.now = max(self.now, min(each.wake for each in self._actors))
        chosen = self.chance.choice([each for each in self._actors if each.wake <= self.now])
        self.now += self.chance.choice(_TICKS)
        return chosen

    def _hand_baton(self, actor: _Actor) -> None:
        if actor.thread is None:
            actor.deadline = self.now + actor.lifetime
            actor.thread = threading.Thread(target=self._live, args=[actor], daemon=True)
            actor.thread.start()
        actor.baton.release()

    def _live(self, actor: _Actor) -> None:
        actor.baton.acquire()
        try:
            actor.body()
        except Killed:
            self.note("ends here")
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is shown where the run was started
            self._failure = self._failure or error
        finally:
            actor.finished = True
            self._pass_on(None)

    def _end(self) -> None:
        """Lets no thread outlive the run."""
        for actor in self._actors:
            if actor.thread and not actor.finished:
                self._running, actor.doomed = actor, True
                actor.baton.release()
                self._over.acquire()
