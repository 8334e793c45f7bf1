"""What is true of every task's record, as Powertools keeps it under the fence: held against each write."""

import json
from collections import Counter
from typing import NoReturn

from tests.simulation.aws.expressions import Item
from tests.simulation.orders.tasks import Effects, Invocation, Invocations, Task
from tests.simulation.scheduler import Scheduler

Record = dict[str, str]


class TaskLog:
    """`skew` is how many seconds any two clocks may differ by; not `trusted`: more than the margin."""

    def __init__(
        self,
        scheduler: Scheduler,
        invocations: Invocations,
        effects: Effects,
        seen: Counter[str],
        *,
        skew: int,
        trusted: bool,
    ) -> None:
        self._scheduler = scheduler
        self._invocations = invocations
        self._effects = effects
        self._seen = seen
        self._skew = skew
        self._trusted = trusted
        self._standing: dict[Task, Record] = {}
        self.completed: dict[Task, float] = {}
        """Since when each task's record says done."""

    def holds(self, invocation: Invocation) -> bool:
        """Its claim stands."""
        record = self._standing.get(invocation.task)
        return bool(record and record["status"] == "INPROGRESS" and record["owner"] in invocation.tokens)

    def observe(self, before: Item | None, after: Item | None) -> None:
        former, record = _plain(before), _plain(after)
        if record is None:
            self._deleted(former)
            return
        invocation = self._invocations.holding(record["owner"])
        if invocation is None or not self._writes(invocation):
            self._fail(f"the record of {_told(former)} is overwritten by {self._scheduler.running}")
        claims = record["status"] == "INPROGRESS"
        fault = self._claim(former, record) if claims else self._completion(invocation, former, record)
        if fault:
            self._fail(f"{invocation.task[1]} of {invocation.task[0]} {fault}")
        if claims:
            self.completed.pop(invocation.task, None)  # it had expired
        self._standing[invocation.task] = record

    def _claim(self, former: Record | None, record: Record) -> str | None:
        now = self._scheduler.now + self._skew
        if former is None or former["owner"] == record["owner"] or int(former["expiration"]) <= now:
            return None
        if former["status"] == "COMPLETED":
            return f"is claimed anew, which is done: {_told(former)}"
        if int(former["in_progress_expiration"]) / 1000 > now:
            return f"is claimed under a lease: {_told(former)}"
        if self._trusted and self._scheduler.now < self._holder(former).process.deadline:
            return f"is claimed while its holder may be at work: {_told(former)}"
        self._seen["takeover of a task"] += 1
        return None

    def _completion(self, invocation: Invocation, former: Record | None, record: Record) -> str | None:
        """Nobody loses his record; where there is none, one is written."""
        if former and former["owner"] != record["owner"]:
            return f"is completed by another than {_told(former)}"
        receipt = json.loads(record["data"])["receipt"]
        if receipt != self._effects.receipt(invocation.task):
            return f"is completed with {receipt}"
        self.completed[invocation.task] = self._scheduler.now
        self._seen["completed where there was no record"] += former is None
        return None

    def _deleted(self, former: Record | None) -> None:
        if former is None:
            return
        holder = self._holder(former)
        if self._scheduler.running == "ttl":
            allowed = int(former["expiration"]) <= self._scheduler.now + self._skew
        else:
            allowed = self._writes(holder) and former["status"] == "INPROGRESS"
        if not allowed:
            self._fail(f"the record of {_told(former)} is deleted by {self._scheduler.running}")
        self._standing.pop(holder.task, None)
        self.completed.pop(holder.task, None)

    def _holder(self, record: Record) -> Invocation:
        holder = self._invocations.holding(record["owner"])
        return holder or self._fail(f"{record['owner']} is nobody's token")

    def _writes(self, invocation: Invocation) -> bool:
        """Whether this is its write, or one that it gave up."""
        return self._scheduler.running in (invocation.actor, f"{invocation.actor}, late")

    def _fail(self, message: str) -> NoReturn:
        self._scheduler.fail(message)


def _plain(item: Item | None) -> Record | None:
    return {name: str(next(iter(value.values()))) for name, value in item.items()} if item else None


def _told(record: Record | None) -> str:
    return f"{record['owner']} ({record['status']})" if record else "nobody"
