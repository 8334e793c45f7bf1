"""The downstreams of an order's tasks: honour the idempotency key, and judge each call as it begins."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from tests.simulation.orders.task_log import TaskLog
from tests.simulation.orders.tasks import Effects, Invocation, Invocations, Task
from tests.simulation.scheduler import Fate, Scheduler
from tests.simulation.wire import land_late

# Seconds of a call, and how often; the longest is longer than a function lives. Where clocks let somebody
# take a task too early, its holder is to be still at work.
_TAKES = {0: 15, 1: 5, 10: 10, 30: 1}
_TAKES_LONGER = {1: 5, 10: 5, 15: 10, 30: 1}


@dataclass(kw_only=True)
class OrderDownstream:
    """`rejected`: the share of calls that are refused for good. Not `trusted`: a task may be taken early."""

    scheduler: Scheduler
    invocations: Invocations
    effects: Effects
    records: TaskLog
    seen: Counter[str]
    trusted: bool
    rejected: float
    begun: set[str] = field(default_factory=set)
    """Orders whose record was theirs at BeginOrder."""
    _tasks: defaultdict[str, set[Task]] = field(default_factory=lambda: defaultdict(set))
    _tries: defaultdict[Task, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def post(self, body: str, *, idempotency_key: str, attempt: int) -> dict[str, Any]:
        invocation = self.invocations.running
        self._hold_call(invocation, json.loads(body), idempotency_key, attempt)
        task, scheduler = invocation.task, self.scheduler
        what = f"effect of {task[1]} of {task[0]}, attempt {attempt}"
        fate = scheduler.leave(what)
        if fate is Fate.DIES_BEFORE:
            return scheduler.die()
        if fate is Fate.THROTTLED:
            raise NotApplied
        if fate is Fate.GOES and self._rejects():
            raise Rejected
        if fate in (Fate.LATE, Fate.DIES_LATE):
            land_late(scheduler, what, partial(self.effects.record, task, idempotency_key))
        else:
            self.effects.record(task, idempotency_key)
        if fate in (Fate.DIES_AFTER, Fate.DIES_LATE):
            return scheduler.die()
        self._take_time()
        if fate is not Fate.GOES:
            raise OutcomeUnknown
        return {"status": 200, "body": self.effects.receipt(task)}

    def _rejects(self) -> bool:
        return self.rejected > 0 and self.scheduler.chance.random() < self.rejected

    def _take_time(self) -> None:
        takes = _TAKES if self.trusted else _TAKES_LONGER
        if self.scheduler.weather.mishaps:
            self.scheduler.pause(self.scheduler.chance.choices(list(takes), list(takes.values()))[0])

    def _hold_call(self, invocation: Invocation, content: dict[str, Any], key: str, attempt: int) -> None:
        order, task = invocation.task
        what = f"{task} of {order}"
        if content["orderId"] != order:
            self._fail(f"{what} sends what is of {content['orderId']}")
        if order not in self.begun:
            self._fail(f"{what} begins, whose record was not its own at BeginOrder")
        keys, tasks = self.effects.keys[invocation.task], self._tasks[key]
        keys.add(key)
        tasks.add(invocation.task)
        if len(keys) > 1:
            self._fail(f"{what} is called under two keys: {sorted(keys)}")
        if len(tasks) > 1:
            self._fail(f"one key for two tasks: {sorted(tasks)}")
        self._hold_attempt(invocation, attempt)
        if self.trusted and not self.records.holds(invocation):
            self._fail(f"{what} is called without a claim that stands")
        self.seen["effect repeated under its key"] += invocation.task in self.effects.recorded

    def _hold_attempt(self, invocation: Invocation, attempt: int) -> None:
        """It rises in the order in which Step Functions made the tries, whenever they begin."""
        tries = self._tries[invocation.task]
        for earlier, number in tries.items():
            if (number < invocation.number) is not (earlier < attempt):
                self._fail(f"{invocation.actor} is attempt {attempt} after {earlier}")
        tries[attempt] = invocation.number

    def _fail(self, message: str) -> NoReturn:
        self.scheduler.fail(message)
