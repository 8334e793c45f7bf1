"""What ends FAILED or IN_DOUBT is told: at least once, and never again once that is on record."""

import json

import pytest

from idempotency.errors import OutcomeUnknown, Rejected
from idempotency.model import Semantics, State
from registrations.model import When
from registrations.service import Ending
from tests.unit.aws import refusal
from tests.unit.registrations.desk import DLQ_URL, EVENT, KEY, NOW, PATH, REGISTRATION, TAKEOVER, Desk

ONCE, REPEATABLE = Semantics.AT_MOST_ONCE, Semantics.IDEMPOTENT_DOWNSTREAM


def _fails(desk: Desk) -> None:
    desk.registry.raises = Rejected()


def _falls_into_doubt(desk: Desk) -> None:
    """Rejected, but an earlier try may have had its effect; at most once, the earlier one is enough."""
    if desk.ledger.policy.semantics is REPEATABLE:
        desk.registry.raises = OutcomeUnknown()
        desk.settle()
        desk.registry.raises = Rejected()
    else:
        desk.registry.raises = OutcomeUnknown()


WAYS = {"FAILED": (_fails, "rejected"), "IN_DOUBT": (_falls_into_doubt, "in-doubt")}
on_both_ways = pytest.mark.parametrize("state", WAYS)


def _arrange(state: str, desk: Desk) -> str:
    arrange, reason = WAYS[state]
    arrange(desk)
    desk.calls.clear()
    return reason


@on_both_ways
def test_the_copy_says_which_and_why(state: str, desk: Desk) -> None:
    reason = _arrange(state, desk)
    assert desk.settle() is Ending.DEAD
    assert desk.record.state == state
    (copy,) = desk.queue.sent
    assert (copy["url"], json.loads(copy["body"])) == (DLQ_URL, EVENT)
    assert copy["attributes"] == {
        "reason": {"DataType": "String", "StringValue": reason},
        "firstSeenAt": {"DataType": "String", "StringValue": f"{NOW}000"},
        "eventKey": {"DataType": "String", "StringValue": KEY.pk},
    }


@on_both_ways
def test_that_it_was_told_is_a_step_of_its_own_that_repeats_the_record(state: str, desk: Desk) -> None:
    _arrange(state, desk)
    desk.settle()
    *_, below, told = (json.loads(value) for _, value in sorted(desk.store.standing(PATH).items()))
    assert told.pop("note") == "REPORTED"
    assert "note" not in below
    assert told == below


@on_both_ways
def test_it_is_told_once_however_many_runs_come_and_never_tried_again(state: str, desk: Desk) -> None:
    """In doubt it waits for a person, where expiries are repeated too."""
    _arrange(state, desk)
    desk.settle()
    tried, before = len(desk.registry.expired), desk.store.standing()
    desk.registry.raises = None
    for desk.now in (NOW, NOW + 1, TAKEOVER, TAKEOVER + 20 * 86_400):
        assert desk.settle() is Ending.DEAD
    assert (len(desk.registry.expired), len(desk.queue.sent)) == (tried, 1)
    assert desk.store.standing() == before


@on_both_ways
def test_it_is_told_before_that_is_on_record(state: str, desk: Desk) -> None:
    """A copy that was not taken leaves the registration open: the next run tells of it."""
    reason = _arrange(state, desk)
    desk.queue.failures.append(refusal("KmsThrottled", "SendMessage"))
    assert desk.settle() is Ending.UNKNOWN
    assert desk.record.state == state
    assert "REPORTED" not in str(desk.store.standing())
    assert desk.settle() is Ending.DEAD
    assert desk.queue.reasons == [reason]
    assert desk.settle() is Ending.DEAD
    assert desk.queue.reasons == [reason]


@on_both_ways
def test_a_run_that_dies_between_telling_and_recording_it_is_made_up_for_by_the_next(
    state: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = _arrange(state, desk)

    def die(*_: object, **__: object) -> None:
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(desk.ledger, "report", die)
        with pytest.raises(SystemExit):
            desk.settle()
    assert desk.queue.reasons == [reason]
    assert desk.settle() is Ending.DEAD
    assert desk.queue.reasons == [reason, reason]
    assert desk.settle() is Ending.DEAD
    assert len(desk.queue.sent) == 2


def test_a_record_of_it_that_the_store_refuses_leaves_it_to_the_next_run(desk: Desk) -> None:
    _fails(desk)
    desk.store.faults.refuse("PutParameter", "AccessDeniedException", calls=(3,))
    assert desk.settle() is Ending.UNKNOWN
    assert desk.settle() is Ending.DEAD
    assert desk.queue.reasons == ["rejected", "rejected"]


def test_where_expiries_are_repeated_a_doubt_that_nobody_was_told_of_is_tried_again(
    repeatable: Desk,
) -> None:
    _falls_into_doubt(repeatable)
    repeatable.queue.failures.append(refusal("OverLimit", "SendMessage"))
    assert repeatable.settle() is Ending.UNKNOWN
    repeatable.registry.raises = None
    assert repeatable.settle() is Ending.EXECUTED
    assert (repeatable.record.state, repeatable.queue.sent) == (State.DONE, [])


@on_both_ways
def test_what_an_operator_releases_is_taken_by_the_next_run(state: str, desk: Desk) -> None:
    _arrange(state, desk)
    desk.settle()
    attempts = len(desk.registry.expired)
    desk.operator_releases()
    desk.registry.raises = None
    assert desk.settle() is Ending.EXECUTED
    assert desk.registry.expired[attempts:] == [("REG-1", attempts + 1)]
    assert (desk.record.state, desk.record.unknown) == (State.DONE, False)


@on_both_ways
def test_what_fails_anew_after_it_was_released_is_told_anew(state: str, desk: Desk) -> None:
    _arrange(state, desk)
    desk.settle()
    desk.operator_releases()
    desk.registry.raises = Rejected()
    assert desk.settle() is Ending.DEAD
    assert desk.queue.reasons[1:] == ["rejected"]
    assert desk.settle() is Ending.DEAD
    assert len(desk.queue.sent) == 2


class TestTooLate:
    """Past the lookback a registration is looked at once more: it is not expired, nor does it stay open."""

    def test_what_was_never_begun_has_failed_and_is_told(self, desk: Desk) -> None:
        assert desk.settle(When.TOO_LATE) is Ending.DEAD
        assert (desk.record.state, desk.record.reason) == (State.FAILED, "too-late")
        assert (desk.queue.reasons, desk.registry.expired) == (["too-late"], [])
        assert desk.settle(When.TOO_LATE) is Ending.DEAD
        assert len(desk.queue.sent) == 1

    def test_what_was_given_back_is_too(self, desk: Desk) -> None:
        claim = desk.guard.claim(REGISTRATION.key)
        desk.guard.release(claim, reason="not-applied")
        assert desk.settle(When.TOO_LATE) is Ending.DEAD
        assert (desk.record.state, desk.queue.reasons) == (State.FAILED, ["too-late"])

    def test_unless_an_earlier_try_may_have_had_its_effect(self, desk: Desk) -> None:
        claim = desk.guard.claim(REGISTRATION.key)
        desk.guard.release(claim, reason="outcome-unknown", outcome_unknown=True)
        assert desk.settle(When.TOO_LATE) is Ending.DEAD
        assert (desk.record.state, desk.queue.reasons) == (State.IN_DOUBT, ["in-doubt"])

    def test_what_was_abandoned_is_in_doubt_and_told(self, desk: Desk) -> None:
        desk.guard.claim(REGISTRATION.key)
        desk.now = TAKEOVER
        assert desk.settle(When.TOO_LATE) is Ending.DEAD
        assert (desk.record.state, desk.record.expires_at) == (State.IN_DOUBT, None)
        assert (desk.queue.reasons, desk.registry.expired) == (["in-doubt"], [])

    def test_what_somebody_is_at_is_left_to_them(self, desk: Desk) -> None:
        desk.guard.claim(REGISTRATION.key)
        before = desk.record
        assert desk.settle(When.TOO_LATE) is Ending.SKIPPED_IN_FLIGHT
        assert (desk.record, desk.queue.sent) == (before, [])

    def test_what_is_done_is_skipped(self, desk: Desk) -> None:
        desk.settle()
        assert desk.settle(When.TOO_LATE) is Ending.SKIPPED_COMPLETED
        assert desk.queue.sent == []

    @on_both_ways
    def test_what_nobody_could_be_told_of_before_is_told(self, state: str, desk: Desk) -> None:
        reason = _arrange(state, desk)
        desk.queue.failures.append(refusal("OverLimit", "SendMessage"))
        assert desk.settle() is Ending.UNKNOWN
        tried = len(desk.registry.expired)
        assert desk.settle(When.TOO_LATE) is Ending.DEAD
        assert (desk.queue.reasons, len(desk.registry.expired)) == ([reason], tried)

    @on_both_ways
    def test_what_was_told_before_is_not_told_again(self, state: str, desk: Desk) -> None:
        _arrange(state, desk)
        desk.settle()
        assert desk.settle(When.TOO_LATE) is Ending.DEAD
        assert len(desk.queue.sent) == 1

    def test_a_copy_that_is_not_taken_leaves_it_to_the_next_look(self, desk: Desk) -> None:
        desk.queue.failures.append(refusal("OverLimit", "SendMessage"))
        assert desk.settle(When.TOO_LATE) is Ending.UNKNOWN
        assert desk.settle(When.TOO_LATE) is Ending.DEAD
        assert desk.queue.reasons == ["too-late"]
