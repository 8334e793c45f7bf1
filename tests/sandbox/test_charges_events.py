"""Deliveries of good charges: each is debited once, however often it comes and whatever it meets."""

import time
from dataclasses import replace
from datetime import datetime

from sandbox.downstream import Answer
from tests.sandbox.begun_early import When, begun_early, under_both
from tests.sandbox.charges import BUSY, DONE, RECEIVE_LIMIT, Charges, Due
from tests.sandbox.deployed import eventually

NEARLY_THE_DEADLINE_SECONDS = 2.6  # of the debit's 3 s
ROUNDS = 4  # of duplicates, while the debit lasts

Sent = tuple[Due, list[str]]


def the_same_message_five_times(charges: Charges) -> Sent:
    due = charges.due(Answer(delay_seconds=1))
    return due, charges.send(*[due] * 5)


@under_both
@begun_early(the_same_message_five_times)
def test_the_same_message_five_times_is_one_debit_and_one_done(charges: Charges, begun: Sent) -> None:
    due, message_ids = begun
    said = charges.acknowledged(message_ids)

    assert charges.end(due) == DONE
    assert len(charges.calls(due)) == 1
    assert sorted(lines[-1]["message"] for lines in said.values()) == ["already done"] * 4 + ["done"]
    assert charges.notifications.effects(f"{due.id}:notification") == 1


def duplicates_throughout_a_slow_debit(charges: Charges) -> Sent:
    return eventually(lambda: duplicates_in_flight(charges))


def duplicates_in_flight(charges: Charges) -> Sent | None:
    """None if the debit was over before any of them was received, as may be on a machine under load."""
    due = charges.due(Answer(delay_seconds=NEARLY_THE_DEADLINE_SECONDS))
    (first,) = charges.send(due)
    eventually(lambda: charges.calls(due))
    duplicates: list[str] = []
    for _ in range(ROUNDS):
        duplicates += charges.send(*[due] * 3)
        time.sleep(NEARLY_THE_DEADLINE_SECONDS / ROUNDS)
    charges.end(due)
    waiting = any(line["message"] == "in progress" for line in charges.said(due))
    return (due, [first, *duplicates]) if waiting else None


@under_both
@begun_early(duplicates_throughout_a_slow_debit, When.ALONE)
def test_a_duplicate_in_flight_waits_out_the_lease_in_one_receive(charges: Charges, begun: Sent) -> None:
    """Hidden until a takeover could succeed: the receive limit is far, the dead-letter queue not in sight."""
    due, (first, *duplicates) = begun
    said = charges.acknowledged([first, *duplicates])

    assert charges.end(due) == DONE
    assert [line["message"] for line in said[first]] == ["done"]
    waited = [said[message_id] for message_id in duplicates if len(said[message_id]) > 1]
    assert waited
    for lines in waited:
        *waits, last = lines
        assert [line["message"] for line in waits] == ["in progress"]
        assert last["message"] == "already done"
        assert at(last) >= waits[0]["until"]
    assert max(map(len, said.values())) < RECEIVE_LIMIT


def at(line: dict[str, str]) -> float:
    """When it was logged, in epoch seconds."""
    return datetime.strptime(line["timestamp"], "%Y-%m-%d %H:%M:%S,%f%z").timestamp()


def refused_for_now(charges: Charges) -> Due:
    due = charges.due(BUSY, Answer())
    charges.send(due)
    return due


@under_both
@begun_early(refused_for_now)
def test_a_charge_that_is_refused_for_now_comes_again(charges: Charges, begun: Due) -> None:
    assert charges.end(begun) == replace(DONE, attempt=2)


@under_both
def test_a_failed_notification_leaves_the_debit_alone(charges: Charges) -> None:
    due = charges.due()
    charges.notifications.script = lambda call, _n: Answer(
        status=500 if call.key.startswith(f"{due.id}:") else 200
    )
    charges.send(due)

    assert charges.end(due) == replace(DONE, status="DEBITED_NOTIFICATION_FAILED")
    assert len(charges.calls(due)) == 1
