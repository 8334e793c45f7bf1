"""A write of the ledger took effect, and its answer was lost: what becomes of the charge is the same."""

from dataclasses import replace

import pytest

from sandbox.downstream import Answer
from sandbox.faults import Ordered
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import AT_MOST_ONCE, begun_early, under, under_both
from tests.sandbox.charges import BUSY, DONE, DROPPED, REJECTED, Charges, Due, End

Story = tuple[Due, Ordered]

WRITES = {
    "claim": ([Answer()], DONE),
    "complete": ([Answer()], DONE),
    "fail": ([REJECTED], End(debits=0, state="FAILED", attempt=1, reasons=("rejected",))),
    "release": ([BUSY, Answer()], replace(DONE, attempt=2)),
}
"""Each write of the ledger: what makes the bank bring it about, and how the charge ends."""


def one_lost_answer(charges: Charges, write: str) -> Story:
    answers, _ = WRITES[write]
    return lost_answers(charges, write, *answers, times=1)


def lost_answers(charges: Charges, write: str, *answers: Answer, times: int) -> Story:
    due = charges.due(*answers)
    fault = charges.faults.lost_answer("UpdateItem", body=calls_to_aws.write(write, due), times=times)
    charges.send(due)
    return due, fault


@under_both
@pytest.mark.parametrize("write", WRITES)
@begun_early(one_lost_answer)
def test_a_write_recognises_itself_when_its_answer_was_lost(
    charges: Charges, write: str, begun: Story
) -> None:
    due, fault = begun
    _, expected = WRITES[write]

    assert charges.end(due) == expected
    assert fault.fired() == 1
    assert len(charges.calls(due)) == expected.attempt


def a_doubt_that_was_not_heard_of(charges: Charges) -> Story:
    return lost_answers(charges, "doubt", DROPPED, times=1)


@under(AT_MOST_ONCE)
@begun_early(a_doubt_that_was_not_heard_of)
def test_a_doubt_recognises_itself_when_its_answer_was_lost(charges: Charges, begun: Story) -> None:
    due, fault = begun

    assert charges.end(due) == End(debits=1, state="IN_DOUBT", attempt=1, reasons=("in-doubt",))
    assert fault.fired() == 1
    assert len(charges.calls(due)) == 1


def no_answer_to_any_complete(charges: Charges) -> Story:
    return lost_answers(charges, "complete", Answer(), times=2)


@under_both
@begun_early(no_answer_to_any_complete)
def test_a_debit_whose_completion_was_not_heard_of_is_no_dead_letter(charges: Charges, begun: Story) -> None:
    """The record is DONE, which this delivery finds out when it is to doubt it, or else the next one."""
    due, fault = begun

    assert charges.end(due) == DONE
    assert fault.fired() == 2
    assert len(charges.calls(due)) == 1


def no_answer_to_any_claim(charges: Charges) -> Story:
    return lost_answers(charges, "claim", Answer(), times=2)


@under_both
@begun_early(no_answer_to_any_claim)
def test_a_claim_that_was_not_heard_of_is_not_proceeded_on(charges: Charges, begun: Story) -> None:
    """Its delivery has another owner when it comes back; the lease of the first must end before."""
    due, fault = begun

    if charges.semantics == AT_MOST_ONCE:
        assert charges.end(due) == End(debits=0, state="IN_DOUBT", attempt=1, reasons=("in-doubt",))
    else:
        assert charges.end(due) == replace(DONE, attempt=2)
    assert fault.fired() == 2
