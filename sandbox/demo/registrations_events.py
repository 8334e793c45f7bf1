"""What single events leave in the dead-letter queue: the refused ones, and those invoked in vain."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from sandbox.demo.deployment import DeadLetter
from sandbox.demo.registrations_plan import RegistrationsPlan

GAVE_UP = "retries-exhausted"  # after three invocations in vain; Lambda's words for it are RetriesExhausted

Sighting = tuple[str | None, str | None]  # a record id, and why its event is there


def take_letters(copies: dict[str, list[DeadLetter]]) -> list[Sighting]:
    """Takes those out of `copies` that hold an event, and not what our code says of a registration."""
    events = [body for body in copies if "recordId" not in json.loads(body)]
    return [_sighting(json.loads(body), letter.reason) for body in events for letter in copies.pop(body)]


def problems(found: Iterable[Sighting], plan: RegistrationsPlan) -> list[str]:
    """Each event that had to be refused is there, the victim's too; an event that nobody took may be."""
    seen = Counter(found)
    required = {*plan.refused_events, (plan.victim.id, GAVE_UP)}
    allowed = required | {(told.id, GAVE_UP) for told in (*plan.overlapping, *plan.later)}
    return [
        *(f"no dead letter for the event of {id_}: {reason}" for id_, reason in required - seen.keys()),
        *(f"a dead letter for an event of {id_}: {reason}" for id_, reason in seen.keys() - allowed),
    ]


def _sighting(body: Any, reason: str | None) -> Sighting:
    match body:
        case {"requestPayload": {"detail": {"recordId": id_}}}:
            return id_, GAVE_UP
        case {"requestPayload": _}:
            return None, GAVE_UP
        case {"detail": {"recordId": id_}}:
            return id_, reason
        case _:
            return None, reason
