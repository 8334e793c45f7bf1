"""Expires what is due: all of it when the schedule fires, one registration when an event tells of it."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import wiring
from idempotency.ledger import Clock
from idempotency.run_once import Guard
from queues import dead_letter
from registrations import model
from registrations.document import Document
from registrations.model import InvalidRegistration, Registration, When, parse
from registrations.notifications import Notifications
from registrations.ports import RegistrationsPort
from registrations.registry import Registry
from registrations.service import UNFINISHED, Ending, Expiry
from telemetry import count, log


class Unfinished(Exception):  # noqa: N818 - says what it is about
    """Lambda invokes again, twice, and then puts the event into the dead-letter queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetters:
    """Keeps `DeadLettersPort`; there is no way back from this queue but a new event or the next run."""

    sqs: Any
    url: str
    clock: Clock

    def send(self, registration: Registration, *, reason: str) -> None:
        self.refuse(json.dumps(registration.described()), reason=reason, event_key=registration.key)

    def refuse(self, body: str, *, reason: str, event_key: str | None = None) -> None:
        attributes = {dead_letter.FIRST_SEEN_AT: dead_letter.text(str(self.clock() * 1000))}
        if event_key is not None:
            attributes[dead_letter.EVENT_KEY] = dead_letter.text(event_key)
        dead_letter.send(self.sqs, self.url, body=body, attributes=attributes, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """`lookback`: seconds for which a registration is taken once it is due."""

    registrations: RegistrationsPort
    expiry: Expiry
    dead_letters: DeadLetters
    clock: Clock
    lookback: int
    concurrency: int

    def run(self, *, enough_time: Callable[[], bool]) -> dict[str, int]:
        """All that is due. What stays unfinished is counted, and taken by the next run."""
        found, invalid = self.registrations.read()
        for wrong in invalid:
            log.warning("not a registration", problem=str(wrong))
            count("InvalidRegistrations")
        endings = self._settle_all(found, enough_time)
        for ending, number in endings.items():
            count("Registrations", number, Outcome=ending)
        if unfinished := sum(endings[ending] for ending in UNFINISHED):
            count("Unfinished", unfinished)
        counts = {str(ending): endings[ending] for ending in Ending} | {"invalid": len(invalid)}
        log.info("run", counts=counts)
        return counts

    def take(self, event: dict[str, Any]) -> dict[str, int]:
        """The one registration that an event tells of. Raises Unfinished when it has to come again."""
        try:
            registration = parse(event.get("detail"))
        except InvalidRegistration as invalid:
            return self._refuse(event, f"invalid-{invalid.field}")
        match registration.when(self.clock(), lookback=self.lookback):
            case When.NOT_DUE:
                return self._refuse(event, "not-due")
            case When.PAST:
                return self._refuse(event, "too-late")
            case when:
                ending = self.expiry.settle(registration, when)
        count("Registrations", Outcome=ending)
        if ending in UNFINISHED or ending is Ending.SKIPPED_IN_FLIGHT:  # whoever is at it may have died
            raise Unfinished(f"{registration.key}: {ending}")
        return {str(ending): 1}

    def refuse_unknown(self, event: Any) -> dict[str, int]:
        return self._refuse(event, "invalid-event")

    def _settle_all(self, found: Sequence[Registration], enough_time: Callable[[], bool]) -> Counter[Ending]:
        now = self.clock()
        due = [
            (registration, when)
            for registration in found
            if (when := registration.when(now, lookback=self.lookback)) in (When.DUE, When.TOO_LATE)
        ]
        random.shuffle(due)  # where time runs out, each has its chance in some run

        def settled(one: tuple[Registration, When]) -> Ending:
            return self.expiry.settle(*one) if enough_time() else Ending.NOT_REACHED

        with ThreadPoolExecutor(self.concurrency) as threads:
            return Counter(threads.map(settled, due))

    def _refuse(self, event: Any, reason: str) -> dict[str, int]:
        """Any JSON at all: whoever may invoke the function chooses what with."""
        self.dead_letters.refuse(json.dumps(event), reason=reason)
        count("DeadLettered", Reason=reason)
        event_id = event.get("id") if isinstance(event, dict) else None
        log.warning("dead-lettered", reason=reason, event_id=event_id)
        return {str(Ending.DEAD): 1}


@cache
def _processor() -> Processor:
    ledger = wiring.ssm_ledger()
    guard = Guard(
        ledger=ledger,
        namespace=wiring.text("NAMESPACE"),
        clock=wiring.clock,
        new_owner=wiring.token,
        retention=wiring.number("RETENTION_SECONDS"),
        in_flight_ttl=wiring.number("LEASE_SECONDS"),
    )
    dead_letters = DeadLetters(sqs=wiring.client("sqs"), url=wiring.text("DLQ_URL"), clock=wiring.clock)
    return Processor(
        registrations=Document(wiring.client("s3"), wiring.text("SOURCE_BUCKET"), wiring.text("SOURCE_KEY")),
        expiry=Expiry(
            guard=guard,
            reports=ledger,
            registry=Registry(wiring.http_effect("REGISTRY")),
            notifications=Notifications(wiring.http_effect("NOTIFICATION")),
            dead_letters=dead_letters,
        ),
        dead_letters=dead_letters,
        clock=wiring.clock,
        lookback=wiring.number("LOOKBACK_SECONDS"),
        concurrency=wiring.number("CONCURRENCY"),
    )


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: Any) -> dict[str, int]:
    """`{"source": "aws.scheduler", …}` from the schedule, or an event of type RegistrationExpiry."""
    processor = _processor()
    worst_case = wiring.number("RECORD_SECONDS")
    match event:
        case {"detail-type": model.EVENT}:
            return processor.take(event)
        case {"source": "aws.scheduler"}:
            return processor.run(
                enough_time=lambda: context.get_remaining_time_in_millis() / 1000 >= worst_case
            )
        case _:
            return processor.refuse_unknown(event)
