"""A call took effect, and its answer was lost: what becomes of the event is the same."""

from dataclasses import replace
from typing import Any

import pytest

from sandbox.downstream import Answer
from sandbox.faults import Ordered
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import AT_MOST_ONCE, begun_early, under, under_both
from tests.sandbox.deployed import eventually
from tests.sandbox.workload import DONE, Delivery, Outcome, Workload

ACCEPTED = Answer()
BUSY = Answer(status=503, headers={"Retry-After": "1"})
REJECTED = Answer(status=422)
BROKEN_AFTER_THE_EFFECT = Answer(status=500, applies=True)

WRITES = {
    "claim": ([ACCEPTED], DONE),
    "renew": ([BUSY, ACCEPTED], DONE),
    "complete": ([ACCEPTED], DONE),
    "fail": ([REJECTED], Outcome(effects=0, state="FAILED", reasons=("rejected",))),
    "release": ([BUSY], Outcome(effects=0, state="RELEASED", reasons=("not-applied",))),
    "doubt": ([BROKEN_AFTER_THE_EFFECT], Outcome(effects=1, state="IN_DOUBT", reasons=("in-doubt",))),
}
"""Each write of the ledger: what makes the downstream bring it about, and how the event ends."""


def one_lost_answer(workload: Workload, write: str) -> tuple[Delivery, Ordered]:
    answers, _ = WRITES[write]
    event = workload.event(*answers)
    fault = workload.faults.lost_answer("UpdateItem", body=calls_to_aws.write(write, event))
    return workload.send(event), fault


@under_both
@pytest.mark.parametrize("write", WRITES)
@begun_early(one_lost_answer)
def test_a_write_recognises_itself_when_its_answer_was_lost(
    workload: Workload, write: str, begun: Any
) -> None:
    delivery, fault = begun
    _, expected = WRITES[write]

    assert workload.outcome(delivery) == expected
    assert fault.fired() == 1
    record = workload.record(delivery.event)
    assert record is not None
    assert (record["attempt"], record["owner"]) == ("1", delivery.execution)
    if expected == DONE:  # the failure branch would have come to the same end, in a roundabout way
        assert workload.states(delivery) == ["IdempotencyGuard", "ShouldProceed", "SideEffect"]


def no_answer_to_any_claim_of_its_guard(workload: Workload) -> tuple[Delivery, Ordered, Outcome, Delivery]:
    """Four tries of the state, of two attempts each; all of them meet their own claim."""
    event = workload.event()
    fault = workload.faults.lost_answer("UpdateItem", body=calls_to_aws.write("claim", event), times=8)
    delivery = workload.send(event)
    first = workload.outcome(delivery)
    return delivery, fault, first, workload.redrive(event)


@under_both
@begun_early(no_answer_to_any_claim_of_its_guard)
def test_a_claim_that_its_guard_never_heard_of_is_given_back(workload: Workload, begun: Any) -> None:
    _, fault, first, redriven = begun

    assert first == Outcome(effects=0, state="RELEASED", reasons=("guard-failed",))
    assert fault.fired() == 8
    assert workload.outcome(redriven) == replace(DONE, reasons=("guard-failed",))


def no_answer_to_any_complete(workload: Workload) -> tuple[Delivery, Ordered]:
    event = workload.event()
    fault = workload.faults.lost_answer("UpdateItem", body=calls_to_aws.write("complete", event), times=2)
    return workload.send(event), fault


@under_both
@begun_early(no_answer_to_any_complete)
def test_an_effect_whose_completion_was_not_heard_of_is_no_dead_letter(
    workload: Workload, begun: Any
) -> None:
    """The record is DONE, which the failure branch (at-most-once) or the next try finds out."""
    delivery, fault = begun

    assert workload.outcome(delivery) == DONE
    assert fault.fired() == 2


@under_both
def test_an_execution_that_the_starter_did_not_hear_of_is_started_once(workload: Workload) -> None:
    event = workload.event()
    fault = workload.faults.lost_answer("StartExecution", body=calls_to_aws.start(event))
    delivery = workload.send(event)

    assert workload.outcome(delivery) == DONE
    assert fault.fired() == 1
    assert len(workload.calls(event)) == 1


@under(AT_MOST_ONCE)
def test_a_dead_letter_that_the_starter_did_not_hear_of_is_not_lost(workload: Workload) -> None:
    """SendMessage can't be made idempotent: there are two copies, each of which says why it is there."""
    event = workload.refused_event("is no JSON")
    fault = workload.faults.lost_answer("SendMessage", body=calls_to_aws.dead_letter(event.body))
    workload.send(event)

    eventually(lambda: len(workload.letters(event)) == 2)
    assert fault.fired() == 1
    assert {letter.reason for letter in workload.letters(event)} == {"invalid-json"}
