"""A function's thread pool as actors of its process, in an order that the scheduler decides."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tests.simulation.scheduler import Scheduler


class Threads:
    """What `ThreadPoolExecutor` is to `queues.batch`. Each item has an actor of its own, named by `name`."""

    def __init__(self, scheduler: Scheduler, *, max_workers: int, name: Callable[[Any], str]) -> None:
        self._scheduler = scheduler
        self._workers = max_workers
        self._name = name

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        waiting = list(enumerate(items))
        results: dict[int, Any] = {}

        def take(place: int, item: Any) -> None:
            results[place] = function(item)

        def work() -> None:
            while waiting:
                place, item = waiting.pop(0)
                self._join([self._name(item)], partial(take, place, item))

        self._join([f"thread {number}" for number in range(1, self._workers + 1)], work)
        return [results[place] for place in range(len(items))]

    def _join(self, names: Sequence[str], body: Callable[[], None]) -> None:
        process = self._scheduler.process
        started = [self._scheduler.start(name, body, process=process) for name in names]
        self._scheduler.wait_for(started)
