"""What an order's record may say of its tasks, once it has succeeded or failed."""

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import NoReturn

from tests.simulation.orders.lives import Life
from tests.simulation.orders.task_log import TaskLog
from tests.simulation.orders.tasks import Effects, Invocations, Task
from tests.simulation.scheduler import Scheduler

_REASONS = {"FAILED": "a task failed", "TIMED_OUT": "it took too long", "ABORTED": "it was stopped"}


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Not `trusted`: clocks differ by more than the margin, so that an end may be looked at too early."""

    scheduler: Scheduler
    invocations: Invocations
    effects: Effects
    records: TaskLog
    seen: Counter[str]
    trusted: bool

    def hold_success(self, life: Life, record: dict[str, str]) -> None:
        """The result holds the first receipt of every task."""
        result = json.loads(record["result"])
        told = {"payment": result["payment"]["receipt"]}
        told |= {f"item {number}": item["receipt"] for number, item in enumerate(result["items"])}
        wanted = {task: self.effects.receipt((life.order, task)) for task in _tasks(life)}
        if told != wanted:
            self._fail(f"{life.order} is SUCCEEDED with {told}; recorded is {wanted}")

    def hold_failure(self, life: Life, record: dict[str, str], *, run: float) -> None:
        """`run`: when the Reconciler began to look. What a redrive has done since, it need not know."""
        execution = life.execution
        assert execution
        if record["reason"] not in [_REASONS.get(end) for end in execution.ends]:
            self._fail(f"{life.order} is FAILED, {record['reason']}; its execution's ends: {execution.ends}")
        redriven = execution.redriven_at if execution.redriven_at > run else math.inf
        if redriven == math.inf and execution.status != "RUNNING":
            self._hold_settled(life.order)
        told = json.loads(record["tasks"])
        states = {"payment": told["payment"]}
        states |= {f"item {number}": state for number, state in enumerate(told["items"])}
        if list(states) != _tasks(life):
            self._fail(f"{life.order} is told of {list(states)}")
        for task, state in states.items():
            self.seen[f"a failed order's task is {state}"] += 1
            self._hold_state((life.order, task), state, since=run, before=redriven)

    def _hold_settled(self, order: str) -> None:
        at_work = self.invocations.at_work(order)
        if at_work and self.trusted:
            self._fail(f"{order} is told as failed, and {at_work[0].actor} is at work")

    def _hold_state(self, task: Task, state: str, *, since: float, before: float) -> None:
        """Looked at since one moment, about what was before the other."""
        recorded = self.effects.recorded.get(task, math.inf)
        what = f"{task[1]} of {task[0]} is told as {state}"
        if state == "done" and recorded == math.inf:
            self._fail(f"{what}, and was not")
        if state == "not done" and recorded < before and self.trusted:
            self._fail(f"{what}, and was")
        if state != "done" and self.records.completed.get(task, since) < since:
            self._fail(f"{what}, and its record says done")

    def _fail(self, message: str) -> NoReturn:
        self.scheduler.fail(message)


def _tasks(life: Life) -> list[str]:
    items = json.loads(life.asked.body)["items"]
    return ["payment", *(f"item {number}" for number in range(len(items)))]
