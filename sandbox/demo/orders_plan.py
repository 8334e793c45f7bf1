"""The orders of a demo: their keys and bodies, how both providers answer, what their clients do."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice, takewhile
from typing import Any

from sandbox.demo import plan as drawn
from sandbox.demo.orders_callers import CALLERS
from sandbox.demo.plan import Plan, Script
from sandbox.downstream import Answer, Call

SLOW_SECONDS = 1.0  # within a provider's deadline; long enough for retries to arrive meanwhile
HELD_SECONDS = 2.5  # within it, too; long enough to kill the worker, or to stop the execution, meanwhile
LATE_SECONDS = 6.0  # beyond the deadline (3 s in the sandbox)
NEIGHBOURS = 9  # orders that are sent together with the one whose worker is killed
MOST_ITEMS = 100
OTHER_AMOUNT = "99.99"  # of a body that contradicts another one under the same key

_EVERY_NTH_KEY_IS_PRIVATE = 4  # the others are used by all callers, each for an order of its own


class Kind(StrEnum):
    ACCEPTED = "accepted"
    KILLED = "charged, but the worker is killed before it hears of it"
    STOPPED = "stopped while it is charged"
    LARGE = "as many items as an order may have"
    SLOW = "charged slowly"
    BUSY = "payment refused for now, then charged"
    LATE = "charged, but answered too late"
    DROPPED = "charged, but the answer is dropped"
    REJECTED = "payment rejected"
    ITEM_BUSY = "an item refused for now, then provisioned"
    ITEM_LATE = "an item provisioned, but answered too late"
    ITEM_DROPPED = "an item provisioned, but the answer is dropped"
    ITEM_REJECTED = "an item rejected"
    ITEM_UNHEARD = "an item provisioned, but no answer ever comes"
    UNLUCKY = "failed for what AWS did to it"  # found out afterwards


ONLY_IN_CHAOS = frozenset({Kind.UNLUCKY})


class Task(StrEnum):
    """What a task did, in the words of the API; ANY: it depends on who was faster."""

    DONE = "done"
    NOT_DONE = "not done"
    UNKNOWN = "unknown"
    ANY = "any of these"


# Per cent of all orders; at least one of each, the rest is ACCEPTED. Of those with 0 there is only that one.
_SHARES = {
    Kind.KILLED: 0,
    Kind.STOPPED: 0,
    Kind.LARGE: 0,
    Kind.SLOW: 6,
    Kind.BUSY: 4,
    Kind.LATE: 2,
    Kind.DROPPED: 3,
    Kind.REJECTED: 4,
    Kind.ITEM_BUSY: 4,
    Kind.ITEM_LATE: 2,
    Kind.ITEM_DROPPED: 3,
    Kind.ITEM_REJECTED: 3,
    Kind.ITEM_UNHEARD: 1,
}
_PER_CENT_CONTESTED = 3
_PER_CENT_ALTERED = 5
_PER_CENT_CLUMSY = 3
_PER_CENT_PRIED_INTO = 5

REASONS: dict[str, str] = {
    Kind.REJECTED: "a task failed",
    Kind.ITEM_REJECTED: "a task failed",
    Kind.ITEM_UNHEARD: "a task failed",
    Kind.STOPPED: "it was stopped",
    Kind.UNLUCKY: "a task failed",
}
"""Kinds that fail, and what their callers are told."""

# What the provider in question does with the first call for a kind; later ones it accepts, unless `always`.
_ANSWERS = Script(
    first={
        Kind.KILLED: Answer(delay_seconds=HELD_SECONDS),
        Kind.STOPPED: Answer(delay_seconds=HELD_SECONDS),
        Kind.SLOW: Answer(delay_seconds=SLOW_SECONDS),
        Kind.BUSY: Answer(status=503, headers={"Retry-After": "1"}),
        Kind.LATE: Answer(delay_seconds=LATE_SECONDS),
        Kind.DROPPED: Answer(drop=True),
        Kind.REJECTED: Answer(status=422),
        Kind.ITEM_BUSY: Answer(status=503, headers={"Retry-After": "1"}),
        Kind.ITEM_LATE: Answer(delay_seconds=LATE_SECONDS),
        Kind.ITEM_DROPPED: Answer(drop=True),
        Kind.ITEM_REJECTED: Answer(status=422),
        Kind.ITEM_UNHEARD: Answer(drop=True),
    },
    always=(Kind.SLOW, Kind.REJECTED, Kind.ITEM_REJECTED, Kind.ITEM_UNHEARD),
)
_OF_AN_ITEM = (Kind.ITEM_BUSY, Kind.ITEM_LATE, Kind.ITEM_DROPPED, Kind.ITEM_REJECTED, Kind.ITEM_UNHEARD)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedOrder:
    """Of an order with an odd item, that is the first one."""

    id: str
    kind: Kind
    caller: str
    key: str
    items: int

    @property
    def body(self) -> str:
        return order_body(self.id, items=self.items)

    @property
    def other_body(self) -> str:
        """One that contradicts it."""
        return order_body(self.id, items=self.items, amount=OTHER_AMOUNT)

    @property
    def broken_body(self) -> str:
        """One that is no order."""
        return json.dumps({**json.loads(self.body), "items": []})

    @property
    def reason(self) -> str | None:
        """Of its failure; None if it succeeds."""
        return REASONS.get(self.kind)

    @property
    def payment(self) -> Task:
        """What charging it does."""
        if self.kind is Kind.UNLUCKY:
            return Task.ANY
        return Task.NOT_DONE if self.kind is Kind.REJECTED else Task.DONE

    def item(self, number: int) -> Task:
        """What provisioning this item of it does."""
        match self.kind:
            case Kind.UNLUCKY:
                return Task.ANY
            case Kind.REJECTED | Kind.STOPPED:
                return Task.NOT_DONE
            case Kind.ITEM_REJECTED:
                return Task.ANY if number else Task.NOT_DONE
            case Kind.ITEM_UNHEARD:
                return Task.ANY if number else Task.UNKNOWN
            case _:
                return Task.DONE

    def charge(self, nth_call: int) -> Answer:
        """What the payment provider does with the n-th call (from 1) that it gets for it."""
        return Answer() if self.kind in _OF_AN_ITEM else self._answer(nth_call)

    def provision(self, number: int, nth_call: int) -> Answer:
        """What the provisioning provider does with the n-th call (from 1) that it gets for this item."""
        return self._answer(nth_call) if self.kind in _OF_AN_ITEM and number == 0 else Answer()

    def _answer(self, nth_call: int) -> Answer:
        return _ANSWERS.answer(self.kind, nth_call)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersPlan(Plan[PlannedOrder]):
    """Of `overlapping`, every other client hangs up and asks again; the others ask twice at once.

    Of `contested`, two bodies are sent at once, of `altered` another body at last. `clumsy` are sent broken
    before they are sent right. The keys of `pried_into` are tried by those whose keys they are not.
    """

    contested: tuple[PlannedOrder, ...]
    altered: tuple[PlannedOrder, ...]
    clumsy: tuple[PlannedOrder, ...]
    pried_into: tuple[PlannedOrder, ...]

    @property
    def killed_and_neighbours(self) -> tuple[PlannedOrder, ...]:
        """The first ones."""
        harmless = takewhile(lambda order: order.kind in (Kind.KILLED, Kind.ACCEPTED), self.events)
        return tuple(islice(harmless, 1 + NEIGHBOURS))

    @property
    def failing(self) -> tuple[PlannedOrder, ...]:
        """The next ones."""
        return tuple(order for order in self.events if order.kind in REASONS)


def plan(*, events: int, duplicates: int, chance: random.Random) -> OrdersPlan:
    """The same for the same seed of `chance`. `duplicates`: per cent of the orders."""
    storm = drawn.plan(
        kinds(events, chance),
        _order,
        duplicates=duplicates,
        chance=chance,
        overlapping_first=(Kind.SLOW,),
    )
    ordinary = [order for order in storm.events if order.kind not in (Kind.KILLED, Kind.STOPPED)]
    private = [order for order in storm.events if order.key.startswith(order.caller)]

    def some(orders: Sequence[PlannedOrder], per_cent: int) -> tuple[PlannedOrder, ...]:
        number = max(1, round(events * per_cent / 100))
        return tuple(chance.sample(orders, min(number, len(orders))))

    return OrdersPlan(
        events=_victims_first(storm.events),
        overlapping=storm.overlapping,
        later=storm.later,
        contested=some(ordinary, _PER_CENT_CONTESTED),
        altered=some(storm.events, _PER_CENT_ALTERED),
        clumsy=some(ordinary, _PER_CENT_CLUMSY),
        pried_into=some(private, _PER_CENT_PRIED_INTO),
    )


def kinds(events: int, chance: random.Random) -> list[Kind]:
    """Of so many orders, in their order."""
    return drawn.kinds(events, _SHARES, chance, rest=Kind.ACCEPTED)


def _order(number: int, kind: Kind) -> PlannedOrder:
    caller = CALLERS[number % len(CALLERS)]
    private = number % _EVERY_NTH_KEY_IS_PRIVATE == 0
    return PlannedOrder(
        id=f"O-{number:04}",
        kind=kind,
        caller=caller,
        key=f"{caller}.order-{number:04}" if private else f"order-{number // len(CALLERS):04}",
        items=MOST_ITEMS if kind is Kind.LARGE else 1 + number % 2 + (kind in _OF_AN_ITEM),
    )


def _victims_first(orders: Sequence[PlannedOrder]) -> tuple[PlannedOrder, ...]:
    """The one whose worker is killed, and what may be in that worker's hands as well; then what fails.

    Of a failure nobody is told before it has settled: it had better be over while the others are handled.
    """
    killed = [order for order in orders if order.kind is Kind.KILLED]
    good = [order for order in orders if order.kind is Kind.ACCEPTED][:NEIGHBOURS]
    failing = [order for order in orders if order.kind in REASONS]
    first = (*killed, *good, *failing)
    return (*first, *(order for order in orders if order not in first))


def order_body(id_: str, *, items: int, amount: str = "12.50") -> str:
    """Its payment's token and its items' SKUs say which order a provider's call is for."""
    order = {
        "payment": {"amount": amount, "currency": "EUR", "token": id_},
        "items": [{"sku": f"{id_}.{number}", "quantity": 1} for number in range(items)],
    }
    return json.dumps(order)


def charges(orders: Mapping[str, PlannedOrder], call: Call, nth_call: int) -> Answer:
    """The payment provider's script; `orders` by id."""
    return _with_receipt(orders[paid(call)].charge(nth_call), call, nth_call)


def provisions(orders: Mapping[str, PlannedOrder], call: Call, nth_call: int) -> Answer:
    """The provisioning provider's script; `orders` by id."""
    order, number = provisioned(call)
    return _with_receipt(orders[order].provision(number, nth_call), call, nth_call)


def paid(call: Call) -> str:
    """Which order a call of the payment provider is for."""
    return str(_content(call)["token"])


def provisioned(call: Call) -> tuple[str, int]:
    """Which order, and which of its items, a call of the provisioning provider is for."""
    order, _, number = str(_content(call)["sku"]).rpartition(".")
    return order, int(number)


def _content(call: Call) -> dict[str, Any]:
    return dict(json.loads(call.body))


def _with_receipt(answer: Answer, call: Call, nth_call: int) -> Answer:
    """Another one for each call, so that a first receipt can be told from a second."""
    return replace(answer, body=f"{call.key} {nth_call}".encode())
