"""How a function, the queue or the downstream behaves, call after call."""

from collections import deque
from collections.abc import Callable
from threading import Event
from typing import Any

Work = Callable[[], Any]
Play = Callable[[Work], Any]  # is given the real work, and may do it or not

_PATIENCE_SECONDS = 60.0


class TaskFailed(Exception):  # noqa: N818 - named after the event in an execution's history
    """What Step Functions is told of a task: `error` is the name that Retry and Catch match on."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


CRASH = TaskFailed("Lambda.Unknown")  # how AWS calls a function's crash and its timeout


def works(work: Work) -> Any:
    return work()


def fails(error: Exception) -> Play:
    """Nothing was done."""

    def play(work: Work) -> Any:
        raise error

    return play


def answer_lost(error: Exception = CRASH, *, meanwhile: Callable[[], object] = lambda: None) -> Play:
    """It was done, and nobody hears of it."""

    def play(work: Work) -> Any:
        work()
        meanwhile()
        raise error

    return play


def answers_instead(**changed: object) -> Play:
    """It was done, and the answer says something else."""

    def play(work: Work) -> Any:
        return {**work(), **changed}

    return play


def after(happening: Callable[[], object], then: Play = works) -> Play:
    """Something else happens first."""

    def play(work: Work) -> Any:
        happening()
        return then(work)

    return play


class Script:
    """Plays what comes `first`, one play a call, then `always` the same; works unless told otherwise."""

    def __init__(self) -> None:
        self._first: deque[Play] = deque()
        self._always: Play = works

    def first(self, *plays: Play) -> None:
        self._first.extend(plays)

    def always(self, play: Play) -> None:
        self._always = play

    def play(self, work: Work) -> Any:
        return (self._first.popleft() if self._first else self._always)(work)


class Gate:
    """Holds whoever comes until the test opens it."""

    def __init__(self) -> None:
        self._reached, self._opened = Event(), Event()

    def __call__(self) -> None:
        self._reached.set()
        assert self._opened.wait(_PATIENCE_SECONDS), "nobody opened the gate"

    def wait_until_reached(self) -> None:
        assert self._reached.wait(_PATIENCE_SECONDS), "nobody came to the gate"

    def open(self) -> None:
        self._opened.set()
