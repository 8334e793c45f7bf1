"""What the service works with: a bank, a notification endpoint and a ledger that can fail on command."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal, TypeVar

from charges.model import Charge
from idempotency.adapters.memory import MemoryLedger
from idempotency.model import Claim, Key, Policy, Record

RECEIPT = {"status": 200, "body": "booked"}


def _nothing() -> None:
    pass


@dataclass(kw_only=True)
class Bank:
    """Keeps `AccountDebitPort`. `meanwhile` happens while a debit is under way."""

    raises: Exception | None = None
    meanwhile: Callable[[], None] = _nothing
    debits: list[tuple[str, int]] = field(default_factory=list)  # charge id, attempt
    steps: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def debit(self, charge: Charge, *, attempt: int) -> object:
        with self.lock:
            self.debits.append((charge.id, attempt))
            self.steps.append("debit")
        self.meanwhile()
        if self.raises:
            raise self.raises
        return RECEIPT


@dataclass(kw_only=True)
class Customers:
    """Keeps `NotificationPort`."""

    raises: Exception | None = None
    told: list[tuple[str, int]] = field(default_factory=list)  # charge id, attempt
    steps: list[str] = field(default_factory=list)

    def notify(self, charge: Charge, *, attempt: int) -> None:
        self.told.append((charge.id, attempt))
        self.steps.append("notify")
        if self.raises:
            raise self.raises


class StoreDown(Exception):  # noqa: N818 - what happened
    """What a store raises that is throttled or unreachable."""


_Answer = TypeVar("_Answer", Claim, Record)
Fate = Literal["not written", "written"]


class FailingLedger(MemoryLedger):
    """Raises StoreDown for the calls in `down`, before or after they are written; for one key or for all."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self.down: dict[str, Fate] = {}
        self.only: str | None = None  # the pk that is hit
        self.steps: list[str] = []

    def claim(self, key: Key, **claim: Any) -> Claim:
        return self._call("claim", key, lambda: super(FailingLedger, self).claim(key, **claim))

    def _mark(self, transition: Callable[..., Record], key: Key, change: dict[str, Any]) -> Record:
        return self._call(
            transition.__name__, key, lambda: super(FailingLedger, self)._mark(transition, key, change)
        )

    def _call(self, name: str, key: Key, write: Callable[[], _Answer]) -> _Answer:
        self.steps.append(name)
        fate = self.down.get(name) if self.only in (None, key.pk) else None
        if fate == "not written":
            raise StoreDown
        answer = write()
        if fate == "written":
            raise StoreDown
        return answer
