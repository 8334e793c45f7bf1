"""What becomes of a claim when its work raises, and what a mark that fails leaves behind."""

from typing import Literal

import pytest

from idempotency.errors import (
    AlreadyFailed,
    InDoubt,
    LeaseLost,
    NotApplied,
    OutcomeUnknown,
    Rejected,
    Unmarked,
)
from idempotency.model import State
from idempotency.run_once import Answer, Outcome
from tests.unit.idempotency.workshop import NOW, RETENTION, TAKEOVER, StoreDown, Workshop

EXECUTED = Answer(Outcome.EXECUTED, "result")
UNKNOWN = [OutcomeUnknown("HTTP 500"), TimeoutError(), KeyError("a bug"), ConnectionResetError()]
of_any_kind = pytest.mark.parametrize("error", UNKNOWN, ids=lambda error: type(error).__name__)


def _raises(workshop: Workshop, error: BaseException) -> None:
    workshop.raises = error
    with pytest.raises(type(error)) as raised:
        workshop.run()
    assert raised.value is error
    workshop.raises = None


def test_not_applied_gives_the_claim_back(workshop: Workshop) -> None:
    _raises(workshop, NotApplied("HTTP 429"))
    record = workshop.record()
    assert (record.state, record.reason, record.unknown) == (State.RELEASED, "not-applied", False)
    assert record.expires_at == NOW + RETENTION


def test_what_was_given_back_is_tried_at_once_with_the_next_attempt(workshop: Workshop) -> None:
    """No lease to wait for."""
    _raises(workshop, NotApplied())
    assert workshop.run() == EXECUTED
    assert workshop.attempts == [1, 2]
    assert workshop.record().unknown is False


def test_rejected_work_has_failed_and_is_not_tried_again(workshop: Workshop) -> None:
    _raises(workshop, Rejected("HTTP 422"))
    before = workshop.record()
    assert (before.state, before.reason, before.expires_at) == (State.FAILED, "rejected", NOW + RETENTION)
    workshop.now = TAKEOVER + 1
    with pytest.raises(AlreadyFailed) as refused:
        workshop.run()
    assert refused.value.record == before == workshop.record()
    assert workshop.attempts == [1]


@of_any_kind
def test_at_most_once_an_unknown_outcome_is_in_doubt_for_good(error: Exception, once: Workshop) -> None:
    _raises(once, error)
    before = once.record()
    assert (before.state, before.reason, before.expires_at) == (State.IN_DOUBT, "outcome-unknown", None)
    once.now = NOW + 10 * RETENTION
    with pytest.raises(InDoubt) as refused:
        once.run()
    assert refused.value.record == before == once.record()
    assert once.attempts == [1]


@of_any_kind
def test_where_work_is_repeated_an_unknown_outcome_gives_the_claim_back_with_its_mark(
    error: Exception, repeatable: Workshop
) -> None:
    _raises(repeatable, error)
    record = repeatable.record()
    assert (record.state, record.reason, record.unknown) == (State.RELEASED, "outcome-unknown", True)
    assert repeatable.run() == EXECUTED
    assert (repeatable.attempts, repeatable.record().unknown) == ([1, 2], True)


def test_rejected_where_an_earlier_try_may_have_had_its_effect_is_in_doubt(repeatable: Workshop) -> None:
    _raises(repeatable, OutcomeUnknown())
    _raises(repeatable, Rejected())
    record = repeatable.record()
    assert (record.state, record.reason, record.expires_at) == (State.IN_DOUBT, "rejected", None)


def test_giving_the_claim_back_does_not_forget_that_an_earlier_try_may_have_had_its_effect(
    repeatable: Workshop,
) -> None:
    _raises(repeatable, OutcomeUnknown())
    _raises(repeatable, NotApplied())
    assert (repeatable.record().state, repeatable.record().unknown) == (State.RELEASED, True)
    _raises(repeatable, Rejected())
    assert repeatable.record().state is State.IN_DOUBT


def test_at_most_once_an_abandoned_claim_is_on_record_as_in_doubt_before_it_is_said(once: Workshop) -> None:
    abandoned = once.guard.claim("job").record
    once.now = TAKEOVER
    with pytest.raises(InDoubt) as refused:
        once.run()
    record = once.record()
    assert refused.value.record == record
    assert (record.state, record.reason, record.owner) == (State.IN_DOUBT, "lease-expired", abandoned.owner)
    assert once.claims == []


@pytest.mark.parametrize("error", [SystemExit(), KeyboardInterrupt()], ids=repr)
def test_only_an_exception_is_an_ending(error: BaseException, workshop: Workshop) -> None:
    """What ends the process ends the handling, and the claim stays."""
    workshop.raises = error
    with pytest.raises(type(error)):
        workshop.run()
    assert workshop.record().state is State.IN_PROGRESS


MARKS: list[tuple[str, Exception]] = [
    ("release", NotApplied("busy")),
    ("fail", Rejected("no")),
    ("doubt", OutcomeUnknown("lost")),
]


@pytest.mark.parametrize(("mark", "error"), MARKS)
def test_a_mark_that_fails_after_an_error_is_raised_with_that_error_and_the_claim_stays(
    mark: str, error: Exception, once: Workshop
) -> None:
    once.raises, once.ledger.down = error, {mark: "not written"}
    with pytest.raises(StoreDown) as raised:
        once.run()
    assert raised.value.__context__ is error
    assert once.record().state is State.IN_PROGRESS


def test_where_work_is_repeated_a_claim_that_could_not_be_given_back_is_taken_over_later(
    repeatable: Workshop,
) -> None:
    repeatable.raises, repeatable.ledger.down = OutcomeUnknown(), {"release": "not written"}
    with pytest.raises(StoreDown):
        repeatable.run()
    repeatable.raises, repeatable.ledger.down = None, {}
    assert repeatable.run().outcome is Outcome.SKIPPED_IN_FLIGHT
    repeatable.now = TAKEOVER
    assert repeatable.run() == EXECUTED
    assert repeatable.record().unknown is True


@pytest.mark.parametrize(
    ("fate", "state"), [("written", State.DONE), ("not written", State.IN_PROGRESS)], ids=str
)
def test_done_but_not_marked_says_so_with_the_result(
    fate: Literal["written", "not written"], state: State, workshop: Workshop
) -> None:
    workshop.ledger.down = {"complete": fate}
    with pytest.raises(Unmarked) as raised:
        workshop.run()
    assert (raised.value.result, raised.value.key) == ("result", workshop.guard.key("job"))
    assert isinstance(raised.value.__cause__, StoreDown)
    assert workshop.record().state is state


def test_at_most_once_work_that_is_not_marked_ends_in_doubt(once: Workshop) -> None:
    once.ledger.down = {"complete": "not written"}
    with pytest.raises(Unmarked):
        once.run()
    once.ledger.down, once.now = {}, TAKEOVER
    with pytest.raises(InDoubt):
        once.run()
    assert once.attempts == [1]


ENDINGS: dict[str, Exception | None] = {
    "success": None,
    "not applied": NotApplied(),
    "rejected": Rejected(),
    "unknown": OutcomeUnknown(),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("winner", ["done", "at work"])
def test_work_that_was_taken_over_changes_nothing_however_it_ends(
    winner: str, ending: str, repeatable: Workshop
) -> None:
    standing = []

    def overtake() -> None:
        repeatable.now = TAKEOVER
        claim = repeatable.guard.claim("job")
        if winner == "done":
            repeatable.guard.complete(claim, "the winner's")
        standing.append(repeatable.record())

    repeatable.meanwhile, repeatable.raises = overtake, ENDINGS[ending]
    with pytest.raises(LeaseLost):
        repeatable.run()
    assert [repeatable.record()] == standing


def test_late_work_that_nobody_took_over_still_counts(workshop: Workshop) -> None:
    def slow() -> None:
        workshop.now = TAKEOVER + 100

    workshop.meanwhile = slow
    assert workshop.run() == EXECUTED
    assert workshop.record().state is State.DONE
