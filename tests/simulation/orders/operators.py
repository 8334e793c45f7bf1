"""What happens to executions from outside: they are stopped, told of by the Reconciler, and redriven."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from botocore.exceptions import BotoCoreError, ClientError

from executions.unfinished import Unreconciled
from orders import reconciler
from tests.simulation.aws.dynamodb import DynamoDB
from tests.simulation.aws.executions import Execution
from tests.simulation.aws.step_functions import StepFunctions
from tests.simulation.orders.functions import Context
from tests.simulation.orders.log import OrderLog
from tests.simulation.orders.setting import DAY, OVERRUN, Setting
from tests.simulation.scheduler import CALM, Scheduler

_MOST_REDRIVES = 3
_LONGEST_OUTAGE = 12  # runs of the Reconciler: what it can't deal with for a day is out of its sight


@dataclass(kw_only=True)
class Operators:
    """`timeout`: the Reconciler's, in seconds."""

    scheduler: Scheduler
    setting: Setting
    machine: StepFunctions
    dynamodb: DynamoDB
    log: OrderLog
    seen: Counter[str]
    timeout: int
    _numbers: "count[int]" = field(default_factory=lambda: count(1))
    _ticks: set[float] = field(default_factory=set)
    _fruitless: int = 0

    def maybe_stop(self, execution: Execution) -> None:
        """At once, early, or late."""
        chance = self.scheduler.chance
        if chance.random() < self.setting.stops:
            at = self.scheduler.now + chance.choice((0, 0, chance.uniform(0, 10), chance.uniform(0, 60)))
            self.scheduler.start("operator", lambda: self.machine.stop(execution), at=at)

    def broke_off(self, execution: Execution) -> None:
        self._tick()
        redriven = self.scheduler.chance.random() < self.setting.redrives
        if redriven and execution.redrives < _MOST_REDRIVES:
            self.scheduler.start("operator", partial(self._redrive, execution))

    def delete_expired(self) -> None:
        """As TTL does, some time after the expiry."""
        self.dynamodb.expire(now=self.scheduler.now - 2 * self.setting.skew)

    def _redrive(self, execution: Execution) -> None:
        """As docs/orders.md says: after the order says FAILED, within two weeks of the execution's end."""
        chance, every = self.scheduler.chance, self.setting.reconcile_every
        self.scheduler.pause(chance.choice((every, every, chance.uniform(0, 13 * DAY))))
        while not self._handled(execution):
            if execution.status == "RUNNING":
                return
            self.scheduler.pause(every * chance.uniform(0.5, 1.5))
        if chance.random() < 0.8:
            self.scheduler.wait_for([self.scheduler.start("ttl", self.delete_expired)])
        if self.machine.redrive(execution):
            self.seen["redrive"] += 1
            self.maybe_stop(execution)

    def _tick(self) -> None:
        """The Reconciler's schedule, which may fire twice. It stands still while there is nothing to do."""
        every = self.setting.reconcile_every
        tick = (self.scheduler.now // every + 1) * every
        if tick in self._ticks:
            return
        self._ticks.add(tick)
        for _ in range(self.scheduler.chance.choice((1, 1, 1, 2))):
            name = f"reconciler {next(self._numbers)}"
            skew = self.machine.skew()
            self.scheduler.start(name, self._reconcile, at=tick, lifetime=self.timeout + OVERRUN, skew=skew)

    def _reconcile(self) -> None:
        self.log.runs[self.scheduler.running] = self.scheduler.now
        weather = self.scheduler.weather
        clears_up = self._fruitless >= _LONGEST_OUTAGE and weather is not CALM
        if clears_up:
            self.scheduler.weather = CALM
        try:
            with suppress(Unreconciled, BotoCoreError, ClientError):
                self.seen["reconciled"] += reconciler.handler({}, Context(self.scheduler))["handled"]
        finally:
            if clears_up:
                self.scheduler.weather = weather
            done = all(self._handled(each) for each in self.machine.executions.values())
            self._fruitless = 0 if done else self._fruitless + 1
            if not done:
                self._tick()

    def _handled(self, execution: Execution) -> bool:
        if execution.status in ("RUNNING", "SUCCEEDED"):
            return True
        stopped = round(execution.described()["stopDate"].timestamp() * 1000)
        return (execution.arn, str(stopped)) in self.log.handled
