"""The events of an ingestion demo: their bodies, what the downstream does to them, how often they come."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sandbox.demo import plan as drawn
from sandbox.demo.plan import Plan
from sandbox.downstream import Answer, Call

TOO_LARGE_BYTES = 230_000  # over the 220,000 bytes that an execution's input may hold
SLOW_SECONDS = 1.0  # within the effect's deadline; long enough for duplicates to arrive meanwhile
LATE_SECONDS = 6.0  # beyond the effect's deadline (3 s in the sandbox)


class Kind(StrEnum):
    ACCEPTED = "accepted"
    SLOW = "accepted slowly"
    BUSY = "refused for now, then accepted"
    LATE = "applied, but answered too late"
    REJECTED = "rejected"
    NOT_JSON = "body is not JSON"
    NO_KEY = "body lacks the key"
    TOO_LARGE = "body is too large"
    OUT_OF_ORDER = "refused for now, each time"
    UNHEARD = "applied, but no answer ever comes"


ONLY_IN_CHAOS = frozenset({Kind.OUT_OF_ORDER, Kind.UNHEARD})

# Per cent of all events; the rest is ACCEPTED.
_SHARES = {
    Kind.SLOW: 8,
    Kind.BUSY: 5,
    Kind.LATE: 4,
    Kind.REJECTED: 4,
    Kind.NOT_JSON: 2,
    Kind.NO_KEY: 2,
    Kind.TOO_LARGE: 2,
}

_ANSWERS = {
    Kind.SLOW: Answer(delay_seconds=SLOW_SECONDS),
    Kind.BUSY: Answer(status=503, headers={"Retry-After": "1"}),
    Kind.LATE: Answer(delay_seconds=LATE_SECONDS),
    Kind.REJECTED: Answer(status=422),
    Kind.OUT_OF_ORDER: Answer(status=503, headers={"Retry-After": "1"}),
    Kind.UNHEARD: Answer(drop=True),
}
"""What the downstream does with calls for an event of each kind; anything else it accepts."""

_REPEATED = {Kind.BUSY: 2, Kind.LATE: 1}
"""With so many calls; later ones it accepts. Of the other kinds all are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEvent:
    id: str
    kind: Kind

    @property
    def body(self) -> str:
        match self.kind:
            case Kind.NOT_JSON:
                return f"{self.id} is no JSON"
            case Kind.NO_KEY:
                return json.dumps({"note": self.id})
            case Kind.TOO_LARGE:
                return json.dumps({"eventId": self.id, "padding": "x" * TOO_LARGE_BYTES})
            case _:
                return json.dumps({"eventId": self.id, "amount": 1})

    def answer(self, nth_call: int) -> Answer:
        """What the downstream does with the n-th call (from 1) that it gets for this event."""
        if nth_call > _REPEATED.get(self.kind, nth_call):
            return Answer()
        return _ANSWERS.get(self.kind, Answer())


def plan(prefix: str, *, events: int, duplicates: int, chance: random.Random) -> Plan[PlannedEvent]:
    """The same for the same seed of `chance`. `duplicates`: per cent of the events."""
    return drawn.plan(
        kinds(events, chance),
        lambda number, kind: PlannedEvent(id=f"{prefix}-{number:04}", kind=kind),
        duplicates=duplicates,
        chance=chance,
        overlapping_first=(Kind.SLOW, Kind.LATE),
    )


def kinds(events: int, chance: random.Random) -> list[Kind]:
    """Of so many events, in their order."""
    return drawn.kinds(events, _SHARES, chance, rest=Kind.ACCEPTED)


def answers(events: Mapping[str, PlannedEvent], call: Call, nth_call: int) -> Answer:
    """The downstream's script; `events` by id. Only the body says which event a call is for."""
    return events[json.loads(call.body)["eventId"]].answer(nth_call)
