"""What can't be debited is in the dead-letter queue, verbatim and with its reason."""

import json
from dataclasses import replace
from typing import Any

from sandbox.downstream import Answer
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import begun_early, under_both
from tests.sandbox.charges import BUSY, DONE, DROPPED, RECEIVE_LIMIT, REJECTED, Charges, Due, End
from tests.sandbox.deployed import PAYLOAD_MARKER, eventually

MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "a number as its id": ({"chargeId": 7}, "invalid-chargeId"),
    "no account": ({"accountId": None}, "invalid-accountId"),
    "a negative amount": ({"amount": "-12.50"}, "invalid-amount"),
    "NaN as its amount": ({"amount": "NaN"}, "invalid-amount"),
    "an over-precise amount": ({"amount": "12.505"}, "invalid-amount"),
    "an unknown currency": ({"currency": "ZZZ"}, "invalid-currency"),
    "no type": ({"type": ""}, "invalid-type"),
    "no time": ({"dueAt": "tomorrow"}, "invalid-dueAt"),
}
"""The fields of a charge that make it none, and the reason that names one."""


def malformed_beside_a_good_one(charges: Charges) -> tuple[Due, list[tuple[Due, str]]]:
    good = charges.due()
    bad = [(charges.due(**fields), reason) for fields, reason in MALFORMED.values()]
    no_json = replace(charges.due(), body=f"{good.id} {PAYLOAD_MARKER} is no JSON")
    bad.append((no_json, "invalid-json"))
    charges.send(good, *(due for due, _ in bad))
    return good, bad


@under_both
@begun_early(malformed_beside_a_good_one)
def test_a_malformed_event_is_dead_lettered_with_its_field_and_leaves_no_claim(
    charges: Charges, begun: tuple[Due, list[tuple[Due, str]]]
) -> None:
    good, bad = begun

    for due, reason in bad:
        assert charges.end(due) == End(debits=0, state=None, attempt=None, reasons=(reason,)), due.body
        assert charges.calls(due) == []
    assert charges.end(good) == DONE
    assert "charge:7" not in charges.deployment.records()


def another_amount(charges: Charges) -> tuple[Due, list[Due]]:
    """Once while the first delivery is in flight, once after it is done."""
    due = charges.due(Answer(delay_seconds=2))
    others = [charges.altered(due, amount=amount) for amount in ("99.99", "99.98")]
    charges.send(due)
    eventually(lambda: charges.calls(due))
    charges.send(others[0])
    charges.end(due)
    charges.send(others[1])
    return due, others


@under_both
@begun_early(another_amount)
def test_another_amount_under_the_same_id_is_dead_lettered_and_changes_nothing(
    charges: Charges, begun: tuple[Due, list[Due]]
) -> None:
    due, others = begun

    for other in others:
        eventually(lambda other=other: charges.letters(other))  # type: ignore[misc]
        assert [letter.reason for letter in charges.letters(other)] == ["mismatch"]
    assert charges.end(due) == DONE
    (call,) = charges.calls(due)
    assert json.loads(call.body)["amount"] == json.loads(due.body)["amount"]


@under_both
def test_a_rejected_charge_that_comes_again_is_failed(charges: Charges) -> None:
    due = charges.due(REJECTED)
    rejected = End(debits=0, state="FAILED", attempt=1, reasons=("rejected",))

    charges.send(due)
    assert charges.end(due) == rejected
    charges.send(due)
    eventually(lambda: len(charges.letters(due)) == 2)
    assert charges.end(due) == replace(rejected, reasons=("rejected", "failed"))
    assert len(charges.calls(due)) == 1


@under_both
def test_on_the_last_receive_the_consumer_forwards_what_fails_with_its_reason(charges: Charges) -> None:
    busy, dropped, good = charges.due(BUSY), charges.due(DROPPED), charges.due()
    doubted = charges.faults.lost_answer("UpdateItem", body=calls_to_aws.write("doubt", dropped))

    assert charges.deliver(busy, dropped, good, receives=RECEIVE_LIMIT) == []
    assert charges.end(busy) == End(debits=0, state="RELEASED", attempt=1, reasons=("not-applied",))
    assert charges.end(dropped) == End(debits=1, state="IN_DOUBT", attempt=1, reasons=("in-doubt",))
    assert charges.end(good) == DONE
    assert doubted.fired() == 1


@under_both
def test_before_the_last_receive_what_is_refused_for_now_stays_on_the_queue(charges: Charges) -> None:
    busy = charges.due(BUSY)

    assert charges.deliver(busy, receives=RECEIVE_LIMIT - 1) == [busy]
    assert charges.letters(busy) == []


@under_both
def test_a_duplicate_in_progress_is_not_forwarded_even_on_its_last_receive(charges: Charges) -> None:
    """In progress because nobody heard of the claim, and nobody may take it over yet."""
    due = charges.due()
    fault = charges.faults.lost_answer("UpdateItem", body=calls_to_aws.write("claim", due), times=2)
    assert charges.deliver(due, receives=1) == [due]
    assert fault.fired() == 2

    assert charges.deliver(due, receives=RECEIVE_LIMIT) == [due]
    assert charges.letters(due) == []
    record = charges.record(due)
    assert record is not None
    assert record["state"] == "IN_PROGRESS"
