"""An event source mapping: how many batches it hands to the function at a time."""

from collections.abc import Generator
from typing import Any, Protocol

from bench.scaling.queue import Messages, Queue
from bench.scaling.world import World


class Receiver(Protocol):
    def handle(self, batch: list[Messages]) -> Generator[Any, Any, None]: ...


class Pollers:
    """It begins with a few and adds more while all are busy; it never takes them back here."""

    def __init__(self, world: World, queue: Queue, receiver: Receiver) -> None:
        self._world = world
        self._queue = queue
        self._receiver = receiver
        self._setup = world.case.setup
        self._most = min(self._setup.max_concurrency, world.quota("poller_most"))
        self._allowed = min(world.quota("poller_begin"), self._most)
        self._busy = 0

    def tick(self, seconds: float) -> None:
        if self._queue.receivable and self._busy >= int(self._allowed):
            more = self._world.quota("poller_ramp") / 60 * seconds
            self._allowed = min(self._most, self._allowed + more)
        self._poll()

    def _poll(self) -> None:
        while self._queue.receivable and self._busy < int(self._allowed):
            self._busy += 1
            self._world.env.process(self._batch(self._queue.receive(self._setup.batch_size)))

    def _batch(self, batch: list[Messages]) -> Generator[Any, Any, None]:
        """A batch whose invocation is refused was received all the same."""
        if self._world.concurrency.take(1):
            yield from self._receiver.handle(batch)
            self._world.concurrency.give_back(1)
        else:
            self._world.books.refused_invocations += 1
            for messages in batch:
                self._queue.hide(messages, self._world.now + self._setup.visibility_seconds)
            yield self._world.env.timeout(0)
        self._busy -= 1
        self._poll()
