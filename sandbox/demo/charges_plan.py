"""The charges of a demo: their bodies, how bank and notification endpoint answer, how often they come."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sandbox.demo import plan as drawn
from sandbox.demo.plan import Plan, Script
from sandbox.downstream import Answer, Call

SLOW_SECONDS = 1.0  # within the debit's deadline; long enough for duplicates to arrive meanwhile
HELD_SECONDS = 2.0  # within it, too; long enough to kill the worker meanwhile
LATE_SECONDS = 6.0  # beyond the debit's deadline (some seconds in the sandbox)
NEIGHBOURS = 9  # with the charge whose worker is killed two batches, of the five that the sandbox allows
OTHER_AMOUNT = "99.99"  # no charge is due with it


class Kind(StrEnum):
    ACCEPTED = "accepted"
    KILLED = "accepted, but the worker is killed before it hears of it"
    SLOW = "accepted slowly"
    BUSY = "refused for now, then accepted"
    LATE = "debited, but answered too late"
    DROPPED = "debited, but the answer is dropped"
    REJECTED = "rejected"
    NOT_NOTIFIED = "accepted, but the notification fails"
    NOT_JSON = "body is not JSON"
    NO_ACCOUNT = "body lacks the account"
    NEGATIVE = "amount is negative"
    NO_NUMBER = "amount is not a number"
    OVER_PRECISE = "amount has too many decimal places"
    NO_CURRENCY = "currency is unknown"


# Per cent of all charges; at least one of each, the rest is ACCEPTED. Of KILLED there is only that one.
_SHARES = {
    Kind.KILLED: 0,
    Kind.SLOW: 8,
    Kind.BUSY: 4,
    Kind.LATE: 3,
    Kind.DROPPED: 3,
    Kind.REJECTED: 4,
    Kind.NOT_NOTIFIED: 4,
    Kind.NOT_JSON: 1,
    Kind.NO_ACCOUNT: 1,
    Kind.NEGATIVE: 1,
    Kind.NO_NUMBER: 1,
    Kind.OVER_PRECISE: 1,
    Kind.NO_CURRENCY: 1,
}
_PER_CENT_MISMATCHED = 3

# What makes the body of a kind another one than that of a good charge; None leaves the field out.
_FIELDS: dict[Kind, dict[str, str | None]] = {
    Kind.NO_ACCOUNT: {"accountId": None},
    Kind.NEGATIVE: {"amount": "-12.50"},
    Kind.NO_NUMBER: {"amount": "NaN"},
    Kind.OVER_PRECISE: {"amount": "12.505"},
    Kind.NO_CURRENCY: {"currency": "ZZZ"},
}

# The reason that each body which is no charge must have in the dead-letter queue.
REFUSED: dict[str, str] = {
    Kind.NOT_JSON: "invalid-json",
    Kind.NO_ACCOUNT: "invalid-accountId",
    Kind.NEGATIVE: "invalid-amount",
    Kind.NO_NUMBER: "invalid-amount",
    Kind.OVER_PRECISE: "invalid-amount",
    Kind.NO_CURRENCY: "invalid-currency",
}


# What the bank does with the first call for a charge; later ones it accepts, unless `always`.
_ANSWERS = Script(
    first={
        Kind.KILLED: Answer(delay_seconds=HELD_SECONDS),
        Kind.SLOW: Answer(delay_seconds=SLOW_SECONDS),
        Kind.BUSY: Answer(status=503, headers={"Retry-After": "1"}),
        Kind.LATE: Answer(delay_seconds=LATE_SECONDS),
        Kind.DROPPED: Answer(drop=True),
        Kind.REJECTED: Answer(status=422),
    },
    always=(Kind.SLOW, Kind.REJECTED),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCharge:
    id: str
    kind: Kind

    @property
    def body(self) -> str:
        if self.kind is Kind.NOT_JSON:
            return f"{self.id} is no JSON"
        return charge_due(self.id, **_FIELDS.get(self.kind, {}))

    @property
    def mismatch(self) -> str:
        """The body of a delivery that claims another amount under the same id."""
        return charge_due(self.id, amount=OTHER_AMOUNT)

    def debit(self, nth_call: int) -> Answer:
        """What the bank does with the n-th call (from 1) that it gets for this charge."""
        return _ANSWERS.answer(self.kind, nth_call)

    @property
    def notification(self) -> Answer:
        """What the notification endpoint does with each call that it gets for this charge."""
        return Answer(status=500) if self.kind is Kind.NOT_NOTIFIED else Answer()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargesPlan(Plan[PlannedCharge]):
    """`mismatched` are good charges that come once more with another amount, last of all."""

    mismatched: tuple[PlannedCharge, ...]

    @property
    def deliveries(self) -> int:
        return len(self.events) + len(self.overlapping) + len(self.later) + len(self.mismatched)


def plan(prefix: str, *, events: int, duplicates: int, chance: random.Random) -> ChargesPlan:
    """The same for the same seed of `chance`. `duplicates`: per cent of the charges."""
    storm = drawn.plan(
        kinds(events, chance),
        lambda number, kind: PlannedCharge(id=f"{prefix}-{number:04}", kind=kind),
        duplicates=duplicates,
        chance=chance,
        overlapping_first=(Kind.SLOW,),
    )
    good = [charge for charge in storm.events if charge.kind in (Kind.ACCEPTED, Kind.SLOW)]
    return ChargesPlan(
        events=_leases_first(storm.events),
        overlapping=storm.overlapping,
        later=storm.later,
        mismatched=tuple(good[: max(1, round(events * _PER_CENT_MISMATCHED / 100))]),
    )


def kinds(events: int, chance: random.Random) -> list[Kind]:
    """Of so many charges, in their order."""
    return drawn.kinds(events, _SHARES, chance, rest=Kind.ACCEPTED)


def _leases_first(charges: Sequence[PlannedCharge]) -> tuple[PlannedCharge, ...]:
    """What somebody must take over comes early, so that its lease runs out while the others are handled.

    First of all the charge whose worker is killed, then what is to be in that worker's hands as well.
    """
    killed = [charge for charge in charges if charge.kind is Kind.KILLED]
    unheard = [charge for charge in charges if charge.kind in (Kind.LATE, Kind.DROPPED)]
    others = [charge for charge in charges if charge not in (*killed, *unheard)]
    return (*killed, *others[:NEIGHBOURS], *unheard, *others[NEIGHBOURS:])


def charge_due(charge_id: str, **changed: Any) -> str:
    """A ChargeDueEvent, good but for what `changed` says; None leaves a field out."""
    event = {
        "chargeId": charge_id,
        "accountId": f"account-{charge_id}",
        "amount": "12.50",
        "currency": "EUR",
        "type": "monthly-fee",
        "dueAt": "2026-01-31T00:00:00+00:00",
        **changed,
    }
    return json.dumps({name: value for name, value in event.items() if value is not None})


def debits(charges: Mapping[str, PlannedCharge], call: Call, nth_call: int) -> Answer:
    """The bank's script; `charges` by id."""
    return charges[_charge_of(call)].debit(nth_call)


def notifications(charges: Mapping[str, PlannedCharge], call: Call, _nth_call: int) -> Answer:
    """The notification endpoint's script; `charges` by id."""
    return charges[_charge_of(call)].notification


def _charge_of(call: Call) -> str:
    return str(json.loads(call.body)["chargeId"])
