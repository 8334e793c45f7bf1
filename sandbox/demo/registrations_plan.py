"""The registrations of a demo: what the source says of them, how the registry answers, which come again."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from registrations.model import LAST_LOOK
from sandbox.demo import plan as drawn
from sandbox.demo.plan import Plan, Script
from sandbox.downstream import Answer, Call

LOOKBACK_DAYS = 30  # of the sandbox's stage, as of the others

SLOW_SECONDS = 1.0  # within the registry's deadline; long enough for another run to come by meanwhile
HELD_SECONDS = 2.5  # within it, too; long enough to kill the worker meanwhile
LATE_SECONDS = 6.0  # beyond the deadline (3 s in the sandbox)
NEIGHBOURS = 9  # in the document of the run whose worker is killed
DEMO_SECONDS = 600  # no demo takes longer


class Kind(StrEnum):
    ACCEPTED = "accepted"
    KILLED = "accepted, but the worker is killed before it hears of it"
    SLOW = "accepted slowly"
    BUSY = "refused for now, then accepted"
    LATE = "expired, but answered too late"
    DROPPED = "expired, but the answer is dropped"
    REJECTED = "rejected"
    NOT_NOTIFIED = "accepted, but the notification fails"
    LAST_LOOK = "past the lookback, looked at for the last time"
    NOT_DUE = "not due yet"
    PAST = "past even the last look"


# Per cent of all registrations; at least one of each, the rest is ACCEPTED. Of KILLED there is only that one.
_SHARES = {
    Kind.KILLED: 0,
    Kind.LAST_LOOK: 3,
    Kind.SLOW: 8,
    Kind.BUSY: 4,
    Kind.LATE: 3,
    Kind.DROPPED: 3,
    Kind.REJECTED: 4,
    Kind.NOT_NOTIFIED: 4,
}
_BYSTANDERS_OF_EACH_KIND = 2

# The reason that a kind must have in the dead-letter queue.
REFUSED: dict[str, str] = {Kind.REJECTED: "rejected", Kind.LAST_LOOK: "too-late"}

# Why a single event that tells of a bystander is dead-lettered.
_REFUSED_EVENTS = {Kind.NOT_DUE: "not-due", Kind.PAST: "too-late"}
_NO_REGISTRATION = {"recordId": "A-0000"}  # a single event's detail

# Entries of the source that are no registrations.
NO_REGISTRATIONS: tuple[Any, ...] = (
    "A-0000",
    {"effectiveDate": "2026-03-01"},
    {"recordId": " ", "effectiveDate": "2026-03-01"},
    {"recordId": "A-0000", "effectiveDate": "2026-02-30"},
)

# What the registry does with the first call for a registration; later ones it accepts, unless `always`.
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
class PlannedRegistration:
    id: str
    kind: Kind
    effective_date: str

    @property
    def entry(self) -> dict[str, str]:
        """What the source, or a single event, says of it."""
        return {"recordId": self.id, "effectiveDate": self.effective_date}

    @property
    def body(self) -> str:
        """What the dead-letter queue says of it."""
        return json.dumps(self.entry)

    @property
    def key(self) -> str:
        """Of its record, and the registry's idempotency key."""
        return f"RegistrationExpiry:{self.id}:{self.effective_date}"

    def expiry(self, nth_call: int) -> Answer:
        """What the registry does with the n-th call (from 1) that it gets for this registration."""
        return _ANSWERS.answer(self.kind, nth_call)

    @property
    def notification(self) -> Answer:
        """What the notification endpoint does with each call that it gets for this registration."""
        return Answer(status=500) if self.kind is Kind.NOT_NOTIFIED else Answer()


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationsPlan(Plan[PlannedRegistration]):
    """The source lists all of them; `overlapping` and `later` are told of by single events as well.

    `bystanders` are left alone: not due yet, or too old.
    """

    bystanders: tuple[PlannedRegistration, ...]

    @property
    def victim(self) -> PlannedRegistration:
        return self.events[0]

    @property
    def first_document(self) -> list[Any]:
        """What the source says when the worker is killed."""
        return [registration.entry for registration in self.events[: 1 + NEIGHBOURS]]

    @property
    def document(self) -> list[Any]:
        listed = [*self.events, *self.bystanders]
        return [*(registration.entry for registration in listed), *NO_REGISTRATIONS]

    @property
    def refused_details(self) -> list[Any]:
        """Of single events that tell of nothing to be done."""
        return [*(bystander.entry for bystander in self.bystanders), _NO_REGISTRATION]

    @property
    def refused_events(self) -> set[tuple[str, str]]:
        """Their record ids, and the reasons that they must have in the dead-letter queue."""
        bystanders = {(bystander.id, _REFUSED_EVENTS[bystander.kind]) for bystander in self.bystanders}
        return bystanders | {(_NO_REGISTRATION["recordId"], "invalid-effectiveDate")}


def plan(
    prefix: str, *, events: int, duplicates: int, chance: random.Random, now: datetime
) -> RegistrationsPlan:
    """The same for the same seed of `chance` and the same day. `duplicates`: per cent of the events."""

    def make(number: int, kind: Kind) -> PlannedRegistration:
        return planned(prefix, number, kind, now, chance)

    storm = drawn.plan(
        kinds(events, chance, now),
        make,
        duplicates=duplicates,
        chance=chance,
        overlapping_first=(Kind.SLOW,),
    )
    bystanders = [Kind.NOT_DUE, Kind.PAST] * _BYSTANDERS_OF_EACH_KIND
    return RegistrationsPlan(
        events=_victim_first(storm.events),
        overlapping=storm.overlapping,
        later=storm.later,
        bystanders=tuple(make(number, kind) for number, kind in enumerate(bystanders, start=events + 1)),
    )


def kinds(events: int, chance: random.Random, now: datetime) -> list[Kind]:
    """Of so many registrations, in their order."""
    shares = dict(_SHARES)
    if not _last_look_possible(now):
        del shares[Kind.LAST_LOOK]
    return drawn.kinds(events, shares, chance, rest=Kind.ACCEPTED)


def planned(
    prefix: str, number: int, kind: Kind, now: datetime, chance: random.Random
) -> PlannedRegistration:
    """`chance` draws the effective date, as far as the kind leaves it open."""
    return PlannedRegistration(
        id=f"{prefix}-{number:04}", kind=kind, effective_date=_effective_date(kind, now, chance)
    )


def _victim_first(registrations: Sequence[PlannedRegistration]) -> tuple[PlannedRegistration, ...]:
    """The one whose worker is killed, then what may be in that worker's hands as well."""
    victims = [each for each in registrations if each.kind is Kind.KILLED]
    good = [each for each in registrations if each.kind is Kind.ACCEPTED][:NEIGHBOURS]
    return (*victims, *good, *(each for each in registrations if each not in (*victims, *good)))


def _last_look_possible(now: datetime) -> bool:
    """In the last hour of a day (UTC) no registration is at its last look: dates begin at midnight."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return now + timedelta(seconds=DEMO_SECONDS) < midnight + timedelta(seconds=LAST_LOOK)


def _effective_date(kind: Kind, now: datetime, chance: random.Random) -> str:
    """Such that midnight may pass during the demo."""
    match kind:
        case Kind.NOT_DUE:
            days_ago = -2
        case Kind.LAST_LOOK:
            days_ago = LOOKBACK_DAYS
        case Kind.PAST:
            days_ago = LOOKBACK_DAYS + 2
        case _:
            days_ago = chance.randrange(LOOKBACK_DAYS - 1)
    return (now.astimezone(UTC).date() - timedelta(days=days_ago)).isoformat()


def expiries(registrations: Mapping[str, PlannedRegistration], call: Call, nth_call: int) -> Answer:
    """The registry's script; `registrations` by id."""
    return registrations[_registration_of(call)].expiry(nth_call)


def notifications(registrations: Mapping[str, PlannedRegistration], call: Call, _nth_call: int) -> Answer:
    """The notification endpoint's script; `registrations` by id."""
    return registrations[_registration_of(call)].notification


def _registration_of(call: Call) -> str:
    return str(json.loads(call.body)["recordId"])
