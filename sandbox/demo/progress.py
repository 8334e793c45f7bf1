"""Says what the demo is at: a live line on a terminal, a plain line now and then elsewhere."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console


class Progress:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._begun = time.monotonic()

    def step(self, text: str) -> None:
        self._console.print(f"[dim]{time.monotonic() - self._begun:6.1f} s[/]  {text}", highlight=False)

    @contextmanager
    def following(self, seen: Callable[[], str]) -> Iterator[None]:
        """Keeps showing what `seen` answers while the block runs."""
        over = threading.Event()
        follow = self._live if self._console.is_terminal else self._plainly
        thread = threading.Thread(target=follow, args=(seen, over), name="progress")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self.step(seen())

    def _live(self, seen: Callable[[], str], over: threading.Event) -> None:
        with self._console.status(seen()) as status:
            while not over.wait(0.25):
                status.update(seen())

    def _plainly(self, seen: Callable[[], str], over: threading.Event) -> None:
        while not over.wait(5):
            self.step(seen())
