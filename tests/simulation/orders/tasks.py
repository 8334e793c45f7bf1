"""Who is at work on which task of which order, and which effects the tasks have had."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.simulation.scheduler import Process, Scheduler

Task = tuple[str, str]  # the order, and which of its tasks


@dataclass(slots=True, eq=False)
class Invocation:
    """Of a task's function, as Step Functions makes it. `tokens`: of its guarded calls."""

    actor: str
    task: Task
    process: Process
    at_work: bool = True
    tokens: set[str] = field(default_factory=set)

    @property
    def number(self) -> int:
        """Among all that Step Functions has made."""
        return int(self.actor.split()[1])


class Invocations:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._of: dict[Process, Invocation] = {}
        self._holding: dict[str, Invocation] = {}

    @contextmanager
    def made(self, task: Task) -> Iterator[Invocation]:
        """Of the running actor, for so long."""
        process = self._scheduler.process
        invocation = self._of[process] = Invocation(self._scheduler.running, task, process)
        try:
            yield invocation
        finally:
            invocation.at_work = False

    @property
    def running(self) -> Invocation:
        return self._of[self._scheduler.process]

    def token(self) -> str:
        """That of the running invocation's next guarded call."""
        invocation = self.running
        token = f"{invocation.actor} #{len(invocation.tokens) + 1}"
        invocation.tokens.add(token)
        self._holding[token] = invocation
        return token

    def holding(self, token: str) -> Invocation | None:
        return self._holding.get(token)

    def at_work(self, order: str) -> list[Invocation]:
        return [each for each in self._of.values() if each.at_work and each.task[0] == order]


class Effects:
    """As the downstreams record them: once for each idempotency key, with one receipt ever after."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._receipts: dict[str, str] = {}
        self.keys: defaultdict[Task, set[str]] = defaultdict(set)
        """Under which each task was called."""
        self.recorded: dict[Task, float] = {}
        """When each task first had its effect."""

    def record(self, task: Task, key: str) -> None:
        self.recorded.setdefault(task, self._scheduler.now)
        self._receipts.setdefault(key, f"receipt-{len(self._receipts) + 1}")

    def receipt(self, task: Task) -> str | None:
        """None of a task that had no effect."""
        if task not in self.recorded:
            return None
        (key,) = self.keys[task]
        return self._receipts[key]
