"""Who has asked for which order, and what its record says: what answers and writes are held against.

Whose an order is, and what is in it, comes from the request that was being answered when its record was made,
not from the code under test. A key begins a new life with each record that takes the place of an expired one.
"""

import math
from dataclasses import dataclass, field

from tests.simulation.aws.executions import Execution
from tests.simulation.scheduler import Scheduler

NO_ORDERS = "no JSON", '{"payment": {}, "items": []}'  # bodies that are refused where the key is free


@dataclass(frozen=True, slots=True)
class Asked:
    """A request; `since`: when its function was called. `body` is empty where it asks for the status."""

    caller: str
    key: str
    body: str = ""
    since: float = 0

    def __str__(self) -> str:
        return f"{self.caller}'s {self.key} {self.body[:30]}"


@dataclass(slots=True, eq=False)
class Life:
    """An order's: from its record's making until another record takes its place, or TTL deletes it."""

    order: str
    asked: Asked
    accepted_by: str
    since: float
    record: dict[str, str]
    until: float = math.inf
    statuses: list[tuple[float, str]] = field(default_factory=list)
    execution: Execution | None = None
    told_accepted: bool = False

    @property
    def status(self) -> str:
        return self.record["status"]

    @property
    def expires_at(self) -> int:
        return int(self.record["expiresAt"])

    @property
    def gone(self) -> bool:
        return self.until < math.inf

    def is_of(self, asked: Asked) -> bool:
        """Of this caller's use of this key."""
        return (self.asked.caller, self.asked.key) == (asked.caller, asked.key)

    def becomes(self, record: dict[str, str], *, now: float) -> None:
        self.record = record
        self.statuses.append((now, record["status"]))

    def statuses_since(self, moment: float) -> set[str]:
        before = [status for at, status in self.statuses if at <= moment][-1:]
        return {*before, *(status for at, status in self.statuses if at >= moment)}


class Lives:
    """`skew` is how many seconds any two clocks may differ by."""

    def __init__(self, scheduler: Scheduler, *, skew: int) -> None:
        self._scheduler = scheduler
        self.skew = skew
        self.asking: dict[str, Asked] = {}
        """By the invocation that answers it."""
        self.orders: dict[str, Life] = {}
        """By the order's id."""
        self.standing: dict[str, Life] = {}
        """By the record's key."""

    @property
    def writer(self) -> str:
        """Whose call is being carried out, though he may have given it up."""
        return self._scheduler.running.removesuffix(", late")

    def over(self, life: Life) -> bool:
        """Expired by somebody's clock."""
        return life.expires_at <= self._scheduler.now + self.skew

    def alive(self) -> list[Life]:
        return [life for life in self.standing.values() if not self.over(life)]

    def of(self, asked: Asked) -> list[Life]:
        return [life for life in self.orders.values() if life.is_of(asked)]

    def stands(self, order: str) -> bool:
        return self.orders[order] in self.standing.values()

    def begin(self, pk: str, record: dict[str, str], asked: Asked) -> None:
        """In place of whatever stands there."""
        life = Life(record["orderId"], asked, self.writer, self._scheduler.now, record)
        if pk in self.standing:
            self.end(pk)
        self.orders[life.order] = self.standing[pk] = life

    def end(self, pk: str) -> None:
        self.standing.pop(pk).until = self._scheduler.now
