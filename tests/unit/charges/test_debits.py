"""What each outcome of a debit means for record and message, under both semantics, on any receive."""

import pytest

from charges.model import ChargeStatus
from charges.service import Dead, Outcome, Retry, Settled, Wait
from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Semantics, State
from tests.unit.charges.desk import NOW, RETENTION, TAKEOVER, Desk
from tests.unit.charges.ports import StoreDown

ONCE, REPEATABLE = Semantics.AT_MOST_ONCE, Semantics.IDEMPOTENT_DOWNSTREAM
UNKNOWN = [OutcomeUnknown("HTTP 500"), TimeoutError(), KeyError("a bug"), ConnectionResetError()]
on_any_receive = pytest.mark.parametrize("last_chance", [False, True], ids=["not last", "last"])


@on_any_receive
def test_a_rejected_charge_has_failed_and_is_dead(last_chance: bool, desk: Desk) -> None:
    desk.bank.raises = Rejected("HTTP 422")
    assert desk.recover(last_chance=last_chance) == Dead(reason="rejected")
    assert desk.steps == ["claim", "debit", "fail"]
    assert (desk.record.state, desk.record.reason) == (State.FAILED, "rejected")
    assert desk.record.expires_at == NOW + RETENTION


@pytest.mark.parametrize(
    ("last_chance", "outcome"),
    [(False, Retry()), (True, Dead(reason="not-applied"))],
    ids=["not last", "last"],
)
def test_a_refusal_for_now_gives_the_claim_back(last_chance: bool, outcome: Outcome, desk: Desk) -> None:
    desk.bank.raises = NotApplied("HTTP 429")
    assert desk.recover(last_chance=last_chance) == outcome
    assert desk.steps == ["claim", "debit", "release"]
    assert (desk.record.state, desk.record.reason) == (State.RELEASED, "not-applied")
    assert (desk.record.unknown, desk.record.expires_at) == (False, NOW + RETENTION)


def test_what_was_given_back_is_tried_at_once_with_the_next_attempt(desk: Desk) -> None:
    """No lease to wait for."""
    desk.bank.raises = NotApplied()
    desk.recover()
    desk.bank.raises = None
    assert desk.recover() == Settled(status=ChargeStatus.DEBITED)
    assert desk.bank.debits == [("CHG-1", 1), ("CHG-1", 2)]
    assert desk.record.unknown is False


@pytest.mark.parametrize("error", UNKNOWN, ids=lambda error: type(error).__name__)
@on_any_receive
@pytest.mark.parametrize("semantics", Semantics)
def test_an_unknown_outcome_waits_for_a_takeover_or_ends_in_doubt(
    semantics: Semantics, last_chance: bool, error: Exception
) -> None:
    desk = Desk(semantics)
    desk.bank.raises = error
    outcome = desk.recover(last_chance=last_chance)
    if semantics is REPEATABLE and not last_chance:
        assert outcome == Wait(until=TAKEOVER)
        assert desk.steps == ["claim", "debit"]
        assert desk.record.state is State.IN_PROGRESS
    else:
        assert outcome == Dead(reason="in-doubt")
        assert desk.steps == ["claim", "debit", "doubt"]
        assert (desk.record.state, desk.record.reason) == (State.IN_DOUBT, "in-doubt")
        assert desk.record.expires_at is None
    assert desk.customers.told == []


def test_what_waited_is_debited_again_under_the_same_key_when_it_comes_back(repeatable: Desk) -> None:
    repeatable.bank.raises = OutcomeUnknown()
    waiting = repeatable.recover()
    assert isinstance(waiting, Wait)
    repeatable.bank.raises, repeatable.now = None, waiting.until
    assert repeatable.recover() == Settled(status=ChargeStatus.DEBITED)
    assert repeatable.bank.debits == [("CHG-1", 1), ("CHG-1", 2)]
    assert repeatable.record.unknown is True


def _taken_over_after_an_unknown_outcome(desk: Desk) -> None:
    desk.bank.raises = OutcomeUnknown()
    desk.recover()
    desk.now = TAKEOVER


@on_any_receive
def test_rejected_where_an_earlier_debit_may_have_happened_is_in_doubt(
    last_chance: bool, repeatable: Desk
) -> None:
    _taken_over_after_an_unknown_outcome(repeatable)
    repeatable.bank.raises = Rejected("HTTP 422")
    assert repeatable.recover(last_chance=last_chance) == Dead(reason="in-doubt")
    assert (repeatable.record.state, repeatable.record.reason) == (State.IN_DOUBT, "rejected")


def test_giving_the_claim_back_does_not_forget_that_an_earlier_debit_may_have_happened(
    repeatable: Desk,
) -> None:
    _taken_over_after_an_unknown_outcome(repeatable)
    repeatable.bank.raises = NotApplied()
    assert repeatable.recover() == Retry()
    assert (repeatable.record.state, repeatable.record.unknown) == (State.RELEASED, True)
    repeatable.bank.raises = Rejected()
    assert repeatable.recover() == Dead(reason="in-doubt")


@pytest.mark.parametrize(
    "error", [Rejected("no such customer"), NotApplied(), OutcomeUnknown(), ValueError("a bug")], ids=repr
)
@on_any_receive
def test_a_failed_notification_leaves_the_debit_alone(
    error: Exception, last_chance: bool, desk: Desk
) -> None:
    desk.customers.raises = error
    settled = Settled(status=ChargeStatus.DEBITED_NOTIFICATION_FAILED)
    assert desk.recover(last_chance=last_chance) == settled
    assert desk.record.state is State.DONE
    assert '"status":"DEBITED_NOTIFICATION_FAILED"' in str(desk.record.result)
    assert (len(desk.bank.debits), len(desk.customers.told)) == (1, 1)
    assert desk.recover() == Settled(status=None)
    assert (len(desk.bank.debits), len(desk.customers.told)) == (1, 1)


class TestCompletionIsNotAnswered:
    """Debited, but the ledger does not say that it knows."""

    def test_where_debits_are_repeated_the_message_waits(self, repeatable: Desk) -> None:
        repeatable.memory.down = {"complete": "not written"}
        assert repeatable.recover() == Wait(until=TAKEOVER)
        assert repeatable.record.state is State.IN_PROGRESS

    def test_and_finds_it_done_if_it_was_written(self, repeatable: Desk) -> None:
        repeatable.memory.down = {"complete": "written"}
        waiting = repeatable.recover()
        assert isinstance(waiting, Wait)
        repeatable.now = waiting.until
        assert repeatable.recover() == Settled(status=None)
        assert len(repeatable.bank.debits) == 1

    def test_at_most_once_it_is_in_doubt(self, once: Desk) -> None:
        once.memory.down = {"complete": "not written"}
        assert once.recover() == Dead(reason="in-doubt")
        assert once.steps == ["claim", "debit", "notify", "complete", "doubt"]
        assert once.record.state is State.IN_DOUBT

    def test_on_the_last_receive_it_is_in_doubt_under_both(self, desk: Desk) -> None:
        desk.memory.down = {"complete": "not written"}
        assert desk.recover(last_chance=True) == Dead(reason="in-doubt")
        assert desk.record.state is State.IN_DOUBT

    def test_if_it_was_written_the_mark_of_doubt_finds_it_done(self, desk: Desk) -> None:
        desk.memory.down = {"complete": "written"}
        outcome = desk.recover(last_chance=True)
        assert isinstance(outcome, Settled)
        assert desk.record.state is State.DONE

    def test_and_this_delivery_has_done_it(self, once: Desk) -> None:
        once.memory.down = {"complete": "written"}
        assert once.recover() == Settled(status=ChargeStatus.DEBITED)


MARKS = {"fail": Rejected(), "release": NotApplied(), "doubt": OutcomeUnknown()}


@pytest.mark.parametrize("mark", MARKS)
@on_any_receive
def test_nothing_is_dead_or_given_back_before_the_ledger_says_so(
    last_chance: bool, mark: str, once: Desk
) -> None:
    """The message stays on the queue."""
    once.bank.raises, once.memory.down = MARKS[mark], {mark: "not written"}
    with pytest.raises(StoreDown):
        once.recover(last_chance=last_chance)
    assert once.record.state is State.IN_PROGRESS


def test_a_doubt_that_cannot_be_marked_on_the_last_receive_is_not_dead_either(repeatable: Desk) -> None:
    repeatable.bank.raises, repeatable.memory.down = OutcomeUnknown(), {"doubt": "not written"}
    with pytest.raises(StoreDown):
        repeatable.recover(last_chance=True)


@pytest.mark.parametrize("error", [None, NotApplied(), Rejected(), OutcomeUnknown()], ids=repr)
def test_each_call_of_the_ledger_gets_the_time_afresh(error: Exception | None, once: Desk) -> None:
    def slow() -> None:
        once.now += 30

    once.bank.raises, once.bank.meanwhile = error, slow
    once.recover()
    assert once.record.updated_at == NOW + 30
    assert once.record.lease_until == TAKEOVER - 10


def test_only_an_exception_is_an_outcome(desk: Desk) -> None:
    """What ends the process ends the handling, and the record stays as it was."""

    def stop() -> None:
        raise SystemExit

    desk.bank.meanwhile = stop
    with pytest.raises(SystemExit):
        desk.recover()
    assert desk.record.state is State.IN_PROGRESS
