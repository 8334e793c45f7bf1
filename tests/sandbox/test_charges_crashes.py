"""Consumers that die between debit and done, and consumers that live on after their lease was taken over."""

from dataclasses import dataclass, replace
from typing import Any

from sandbox.downstream import Answer
from tests.sandbox.begun_early import (
    AT_MOST_ONCE,
    IDEMPOTENT_DOWNSTREAM,
    When,
    begun_early,
    under,
)
from tests.sandbox.charges import DONE, REJECTED, Charges, Due, End
from tests.sandbox.deployed import eventually

HELD_SECONDS = 2.5  # within the debit's deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    victim: Due
    neighbours: list[Due]
    message_ids: list[str]


def kill_while_the_bank_holds_the_answer(charges: Charges) -> Killed:
    """Its neighbours are in its batch or in the next; of a batch whose worker dies none is acknowledged."""
    victim, *neighbours = (
        charges.due(Answer(delay_seconds=HELD_SECONDS), Answer()),
        *(charges.due() for _ in range(4)),
    )
    message_ids = charges.send(victim, *neighbours)
    eventually(lambda: charges.calls(victim))
    charges.kill("Consumer")
    return Killed(victim=victim, neighbours=neighbours, message_ids=message_ids)


@under(IDEMPOTENT_DOWNSTREAM)
@begun_early(kill_while_the_bank_holds_the_answer, When.ALONE)
def test_a_charge_whose_worker_died_is_taken_over_and_debited_once(charges: Charges, begun: Killed) -> None:
    assert charges.end(begun.victim) == replace(DONE, attempt=2)
    first, second = charges.calls(begun.victim)
    assert (first.key, first.attempt, second.key, second.attempt) == (
        begun.victim.id,
        "1",
        begun.victim.id,
        "2",
    )
    for neighbour in begun.neighbours:
        end = charges.end(neighbour)
        assert (end.debits, end.state, end.reasons) == (1, "DONE", ())
    charges.acknowledged(begun.message_ids)


@under(AT_MOST_ONCE)
@begun_early(kill_while_the_bank_holds_the_answer, When.ALONE)
def test_a_charge_whose_worker_died_is_in_doubt_and_not_debited_again(
    charges: Charges, begun: Killed
) -> None:
    assert charges.end(begun.victim) == End(debits=1, state="IN_DOUBT", attempt=1, reasons=("in-doubt",))
    assert len(charges.calls(begun.victim)) == 1
    for neighbour in begun.neighbours:
        end = charges.end(neighbour)
        in_doubt = End(debits=end.debits, state="IN_DOUBT", attempt=1, reasons=("in-doubt",))
        assert end in (DONE, in_doubt)  # its own worker may have died at any point between claim and done
        assert len(charges.calls(neighbour)) <= 1
    charges.acknowledged(begun.message_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOver:
    """`records` as the successors left them."""

    dues: list[Due]
    late: list[str]
    successors: list[str]
    records: list[dict[str, Any] | None]


def leases_taken_over_while_the_bank_holds_the_answers(charges: Charges) -> TakenOver:
    return eventually(lambda: taken_over(charges))


def taken_over(charges: Charges) -> TakenOver | None:
    """One late worker hears that the debit was accepted, the other that it was rejected.

    None if they were not late after all: on a machine under load their successors may come later still.
    """
    dues = [
        charges.due(Answer(delay_seconds=HELD_SECONDS), Answer()),
        charges.due(replace(REJECTED, delay_seconds=HELD_SECONDS), Answer()),
    ]
    late = charges.send(*dues)
    eventually(lambda: all(charges.calls(due) for due in dues))
    charges.lapse(*dues)
    successors = charges.send(*dues)
    ends = [charges.end(due) for due in dues]
    if ends != [replace(DONE, attempt=2)] * 2:
        return None
    records = [charges.record(due) for due in dues]
    return TakenOver(dues=dues, late=late, successors=successors, records=records)


@under(IDEMPOTENT_DOWNSTREAM)
@begun_early(leases_taken_over_while_the_bank_holds_the_answers, When.ALONE)
def test_a_late_worker_changes_nothing_and_is_counted(charges: Charges, begun: TakenOver) -> None:
    said = charges.acknowledged([*begun.late, *begun.successors])

    for message_id in begun.late:
        refused, *_, last = said[message_id]
        assert refused["exception_name"] == "LeaseLost"
        assert last["message"] == "already done"
    assert [charges.record(due) for due in begun.dues] == begun.records
    assert [charges.end(due) for due in begun.dues] == [replace(DONE, attempt=2)] * 2
    lines = charges.log_lines("Consumer")
    lost = sum(line["LostClaims"][0] for line in lines if "LostClaims" in line)
    assert lost == sum(line.get("exception_name") == "LeaseLost" for line in lines) >= 2
