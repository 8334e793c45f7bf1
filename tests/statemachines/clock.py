"""The time of a test: it passes only by waits, by delays between tries, and when the test says so."""

import math

START = 1_800_000_000  # whole epoch seconds


class Clock:
    def __init__(self) -> None:
        self.now = START
        self.waits: list[float] = []  # of Wait states
        self.naps: list[float] = []  # between the tries of a task

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += math.ceil(seconds)

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.advance(seconds)

    def nap(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.advance(seconds)
