"""Kills workers at random while a block runs, wherever they are in what they do."""

import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sandbox.demo.deployment import Deployment

_APART_SECONDS = (0.5, 2.0)


class Crashes:
    """`functions` by their construct ids."""

    def __init__(self, deployment: Deployment, functions: Sequence[str], chance: random.Random) -> None:
        self._deployment = deployment
        self._functions = functions
        self._chance = chance
        self.killed = 0

    @contextmanager
    def happening(self) -> Iterator[None]:
        over = threading.Event()
        thread = threading.Thread(target=self._kill, args=(over,), name="crashes", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _kill(self, over: threading.Event) -> None:
        while not over.wait(self._chance.uniform(*_APART_SECONDS)):
            self.killed += len(self._deployment.kill(self._chance.choice(self._functions)))
