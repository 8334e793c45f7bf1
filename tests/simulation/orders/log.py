"""What is true of every order's record and of its execution: held against each write and each start."""

import json
from collections import Counter
from typing import NoReturn

from tests.simulation.aws.executions import Execution
from tests.simulation.aws.expressions import Item
from tests.simulation.orders.lives import NO_ORDERS, Life, Lives
from tests.simulation.orders.outcomes import Outcomes
from tests.simulation.scheduler import Scheduler

_WRITERS = {  # who brings a record from which status to which
    ("ACCEPTED", "RUNNING"): "BeginOrder",
    **{(status, "SUCCEEDED"): "FinishOrder" for status in ("ACCEPTED", "RUNNING", "FAILED", "SUCCEEDED")},
    **{(status, "FAILED"): "reconciler" for status in ("ACCEPTED", "RUNNING", "FAILED")},
}
_TOLD = {"SUCCEEDED": {"result"}, "FAILED": {"reason", "tasks"}}  # attributes of a status
_LATEST_WRITE = 240  # seconds after its time was read: no function lives for longer


class OrderLog:
    """`retention` is that of a record, in seconds."""

    def __init__(
        self, scheduler: Scheduler, lives: Lives, outcomes: Outcomes, seen: Counter[str], *, retention: int
    ) -> None:
        self._scheduler = scheduler
        self._lives = lives
        self._outcomes = outcomes
        self._seen = seen
        self._retention = retention
        self.runs: dict[str, float] = {}
        """When each run of the Reconciler began."""
        self.handled: set[tuple[str, str]] = set()
        """Ends of executions that it has marked."""

    def observe(self, before: Item | None, after: Item | None) -> None:
        item = after or before or {}
        pk, sk = item["pk"]["S"], item["sk"]["S"]
        if pk.startswith("execution:"):
            self._marked(pk.removeprefix("execution:"), sk.removeprefix("handled#"))
            return
        life = self._lives.standing.get(pk)
        if after is None:
            self._deleted(pk, life)
            return
        record = {name: next(iter(value.values())) for name, value in after.items()}
        self._hold_times(record)
        if life and life.order == record["orderId"]:
            self._told(life, record)
        else:
            self._accepted(pk, life, record)
        self._lives.standing[pk].becomes(record, now=self._scheduler.now)

    def started(self, execution: Execution) -> None:
        given = json.loads(execution.input)
        order = given.get("orderId", "")
        life = self._lives.orders.get(order)
        if life is None:
            self._fail(f"{order} is started, and has no record")
        if life.execution:
            self._fail(f"{order} is started a second time")
        content = {name: value for name, value in given.items() if name not in ("requestId", "orderId")}
        if content != json.loads(life.asked.body):
            self._fail(f"{order} is started with another order's content")
        self._seen["healed start"] += self._lives.writer != life.accepted_by
        life.execution = execution

    def _accepted(self, pk: str, former: Life | None, record: dict[str, str]) -> None:
        order = record["orderId"]
        asked = self._lives.asking.get(self._lives.writer)
        if asked is None or record["status"] != "ACCEPTED":
            self._fail(f"{order} is {record['status']}, and was never accepted")
        if order in self._lives.orders:
            self._fail(f"{order} is accepted a second time")
        if former and not self._lives.over(former):
            self._fail(f"{order} takes the place of {former.order}, which has not expired")
        if asked.body in NO_ORDERS:
            self._fail(f"{asked.body!r} makes an order")
        earlier = self._lives.of(asked)
        if any(each is not former and not each.gone for each in earlier):
            self._fail(f"{asked.caller} has a second order under {asked.key}")
        self._seen["new life of a key"] += bool(earlier)
        self._seen["accepted"] += 1
        self._lives.begin(pk, record, asked)

    def _told(self, life: Life, record: dict[str, str]) -> None:
        step, writer = (life.status, record["status"]), self._lives.writer
        if _WRITERS.get(step, "nobody") != writer.split()[0]:
            self._fail(f"{life.order} is brought from {step[0]} to {step[1]} by {writer}")
        if record.keys() & {"result", "reason", "tasks"} != _TOLD.get(record["status"], set()):
            self._fail(f"{life.order} is {record['status']} with {sorted(record)}")
        for name in ("caller", "key", "bodyHash", "location"):
            if record[name] != life.record[name]:
                self._fail(f"{life.order} has another {name}")
        if life.execution is None:
            self._fail(f"{life.order} is {record['status']}, and has never been started")
        if writer.startswith("reconciler"):
            self._outcomes.hold_failure(life, record, run=self.runs[writer])
        elif not writer.endswith(life.execution.name[:12]):
            self._fail(f"{life.order} is brought to {record['status']} by another order's {writer}")
        elif record["status"] == "SUCCEEDED":
            self._outcomes.hold_success(life, record)
        self._seen[record["status"]] += 1
        self._seen["succeeded after it was told as failed"] += step == ("FAILED", "SUCCEEDED")

    def _hold_times(self, record: dict[str, str]) -> None:
        told, now = int(record["updatedAt"]), self._scheduler.now
        if abs(told - now) > self._lives.skew + _LATEST_WRITE:
            self._fail(f"{record['orderId']} is told at {now}, and says {told}")
        if int(record["expiresAt"]) != told + self._retention:
            self._fail(f"{record['orderId']} expires at {record['expiresAt']}, told at {told}")

    def _deleted(self, pk: str, life: Life | None) -> None:
        if self._lives.writer != "ttl" or life is None or not self._lives.over(life):
            self._fail(f"{life.order if life else pk} is deleted")
        self._lives.end(pk)

    def _marked(self, execution: str, end: str) -> None:
        if not self._lives.writer.startswith(("reconciler", "ttl")):
            self._fail(f"{execution} is marked by {self._lives.writer}")
        self.handled.add((execution, end))

    def _fail(self, message: str) -> NoReturn:
        self._scheduler.fail(message)
