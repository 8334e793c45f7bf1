"""Failures of each kind, made to happen in a deployed workload: what a person on call finds there."""

import json
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from sandbox.downstream import Answer, Downstream
from tests.sandbox import calls_to_aws
from tests.sandbox import registrations as registering
from tests.sandbox.begun_early import AT_MOST_ONCE
from tests.sandbox.charges import BUSY, DROPPED, RECEIVE_LIMIT, REJECTED, Charges, Due
from tests.sandbox.deployed import PAYLOAD_MARKER, Deployed, Message, eventually
from tests.sandbox.registrations import ACCEPTED, Registrations
from tests.sandbox.workload import Delivery, Event, Workload

UNDONE = Answer(drop=True, applies=False)
LATE, LATE_AND_UNDONE = Answer(delay_seconds=30), Answer(delay_seconds=30, applies=False)
TRIES = 4  # of a state


class Wanted(Enum):
    """What its sender wants of an event: a runbook can't know."""

    DONE = auto()
    GIVEN_UP = auto()
    AS_IT_CAME_FIRST = auto()
    AS_CORRECTED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """`id` and `message` as its sender knows them; `reasons` are those of its copies among the dead letters.

    `key` is what its downstream goes by.
    """

    id: str
    key: str
    message: Message
    reasons: tuple[str, ...]
    wanted: Wanted = Wanted.DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """`poison` are the reasons of the messages that are no event."""

    deployed: Deployed[Any]
    downstream: Downstream
    events: tuple[Broken, ...]
    poison: tuple[str, ...]


def in_ingestion(workload: Workload) -> Failures:
    event, tries = workload.event, 1 if workload.semantics == AT_MOST_ONCE else TRIES
    refused, refused_again = event(REJECTED, Answer()), event(REJECTED, Answer())
    given_up = event(REJECTED)
    busy = event(*[BUSY] * TRIES, Answer())
    dropped, undone = event(*[DROPPED] * tries, Answer()), event(*[UNDONE] * tries, Answer())
    late = [event(*[answer] * tries, Answer()) for answer in (LATE, LATE_AND_UNDONE)]
    unguarded, unclaimed, moved = event(), event(), event()
    poison = {
        "invalid-json": workload.refused_event("is no JSON"),
        "no-key": Event(body=json.dumps({"note": PAYLOAD_MARKER}), pk=""),
    }

    _denied(workload, unguarded)
    first = [workload.send(each) for each in (refused_again, busy, dropped, undone, unguarded)]
    others = [workload.send(each) for each in (refused, given_up, *poison.values())][:2]
    stopped = [_stopped_at_its_effect(workload, each) for each in late]
    stopped.append(_stopped_at_its_guard(workload, unclaimed))
    workload.ended(first[0])
    again = workload.send(refused_again)
    _bury(workload, moved)
    for delivery in (*first, *others, again):
        workload.ended(delivery)
    for delivery in stopped:
        workload.settled(delivery)
    workload.reconcile()

    return Failures(
        deployed=workload,
        downstream=workload.downstream,
        events=(
            _ingested(refused, "rejected"),
            _ingested(refused_again, "rejected", "failed"),
            _ingested(given_up, "rejected", wanted=Wanted.GIVEN_UP),
            _ingested(busy, "not-applied"),
            *(_ingested(each, "in-doubt") for each in (dropped, undone, *late)),
            _ingested(unguarded, "guard-failed"),
            _ingested(unclaimed, "unfinished"),
            _ingested(moved, "receive-limit"),
        ),
        poison=tuple(poison),
    )


def in_charges(charges: Charges) -> Failures:
    due = charges.due
    refused, refused_again = due(REJECTED, Answer()), due(REJECTED, Answer())
    given_up = due(REJECTED)
    busy = due(BUSY, Answer())
    unheard = [due(answer, Answer()) for answer in (DROPPED, UNDONE) * 2]
    known, mistaken, moved = due(), due(REJECTED, Answer()), due()
    other, corrected = charges.altered(known, amount="99.99"), charges.altered(mistaken, amount="99.98")
    poison = {
        "invalid-json": replace(due(), body=f"{PAYLOAD_MARKER} is no JSON"),
        "invalid-amount": due(amount="-12.50"),
    }

    charges.send(refused, refused_again, given_up, known, mistaken, *poison.values())
    _last_received(charges, [busy, *unheard])
    for each in (refused_again, known, mistaken):
        eventually(lambda each=each: _ended(charges, each))  # type: ignore[misc]
    charges.send(refused_again, other, corrected)
    _bury(charges, moved)

    return Failures(
        deployed=charges,
        downstream=charges.bank,
        events=(
            _charged(refused, "rejected"),
            _charged(refused_again, "rejected", "failed"),
            _charged(given_up, "rejected", wanted=Wanted.GIVEN_UP),
            _charged(busy, "not-applied"),
            *(_charged(each, "in-doubt") for each in unheard),
            _charged(known, "mismatch", wanted=Wanted.AS_IT_CAME_FIRST),
            _charged(corrected, "rejected", "mismatch", wanted=Wanted.AS_CORRECTED),
            _charged(moved, "receive-limit"),
        ),
        poison=tuple(poison),
    )


def in_registrations(registrations: Registrations) -> Failures:
    """Under at-most-once. Scheduled runs find nothing to do."""
    registrations.publish()
    due = registrations.due
    refused, given_up = due(REJECTED, ACCEPTED), due(REJECTED)
    unheard = [due(answer, ACCEPTED) for answer in (DROPPED, UNDONE)]
    no_event = {"detail-type": "SomethingElse", "detail": PAYLOAD_MARKER}
    for event in (*(each.event for each in (refused, given_up, *unheard)), no_event):
        eventually(lambda event=event: registrations.invoke(event) == {"dead": 1})  # type: ignore[misc]

    return Failures(
        deployed=registrations,
        downstream=registrations.registry,
        events=(
            _registered(refused, "rejected"),
            _registered(given_up, "rejected", wanted=Wanted.GIVEN_UP),
            *(_registered(each, "in-doubt") for each in unheard),
        ),
        poison=("invalid-event",),
    )


def _ingested(event: Event, *reasons: str, wanted: Wanted = Wanted.DONE) -> Broken:
    own_id = event.pk.removeprefix("event:")
    return Broken(id=own_id, key=event.key, message=event, reasons=reasons, wanted=wanted)


def _charged(due: Due, *reasons: str, wanted: Wanted = Wanted.DONE) -> Broken:
    return Broken(id=due.id, key=due.id, message=due, reasons=reasons, wanted=wanted)


def _registered(due: registering.Due, reason: str, wanted: Wanted = Wanted.DONE) -> Broken:
    own_id = due.pk.partition(":")[2]
    return Broken(id=own_id, key=due.pk, message=due, reasons=(reason,), wanted=wanted)


def _denied(workload: Workload, event: Event) -> Any:
    """The ledger grants a claim to none of its guard's tries."""
    return workload.faults.error(
        "UpdateItem",
        "AccessDeniedException",
        status=400,
        after_seconds=1,
        body=calls_to_aws.write("claim", event),
        times=TRIES,
    )


def _stopped_at_its_effect(workload: Workload, event: Event) -> Delivery:
    delivery = workload.send(event)
    eventually(lambda: workload.calls(event))
    workload.stop(delivery)
    return delivery


def _stopped_at_its_guard(workload: Workload, event: Event) -> Delivery:
    denied = _denied(workload, event)
    delivery = workload.send(event)
    eventually(denied.fired)
    workload.stop(delivery)
    return delivery


def _last_received(charges: Charges, dues: list[Due]) -> None:
    """Until each is acknowledged: a busy machine may leave some."""

    def acknowledged() -> bool:
        dues[:] = charges.deliver(*dues, receives=RECEIVE_LIMIT)
        return not dues

    eventually(acknowledged, seconds=90, every=1)


def _bury(deployed: Deployed[Any], message: Message) -> None:
    """As SQS moves it at the receive limit: without a reason."""
    queue = deployed.outputs["DeadLetterQueueUrl"]
    deployed.sandbox.client("sqs").send_message(QueueUrl=queue, MessageBody=message.body)


def _ended(deployed: Deployed[Any], message: Message) -> bool:
    record = deployed.record(message)
    return record is not None and record["state"] in ("DONE", "FAILED")
