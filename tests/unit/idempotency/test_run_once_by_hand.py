"""The lower level, for work that is not safe to repeat: claim, complete, release, fail."""

import pytest

from idempotency.errors import AlreadyFailed, LeaseLost, Rejected
from idempotency.model import Claim, State, Verdict
from idempotency.run_once import Answer, Outcome
from tests.unit.idempotency.workshop import NOW, RETENTION, TAKEOVER, TTL, Workshop


def test_a_claim_that_is_held_is_nobody_elses(workshop: Workshop) -> None:
    claim = workshop.guard.claim("job")
    assert (claim.verdict, claim.held, claim.record.lease_until) == (Verdict.ACQUIRED, True, NOW + TTL)
    other = workshop.guard.claim("job")
    assert (other.verdict, other.held, other.until) == (Verdict.IN_PROGRESS, False, TAKEOVER)
    assert workshop.run().outcome is Outcome.SKIPPED_IN_FLIGHT


def test_what_was_completed_by_hand_is_done(workshop: Workshop) -> None:
    claim = workshop.guard.claim("job")
    assert workshop.guard.complete(claim, {"sent": 1}).state is State.DONE
    assert workshop.run() == Answer(Outcome.SKIPPED_COMPLETED, {"sent": 1})
    assert workshop.record().expires_at == NOW + RETENTION


def test_without_a_result_it_is_done_just_so(workshop: Workshop) -> None:
    workshop.guard.complete(workshop.guard.claim("job"))
    assert workshop.run() == Answer(Outcome.SKIPPED_COMPLETED, None)


@pytest.mark.parametrize("outcome_unknown", [False, True])
def test_what_was_given_back_by_hand_is_free(outcome_unknown: bool, workshop: Workshop) -> None:
    claim = workshop.guard.claim("job")
    released = workshop.guard.release(claim, reason="no time", outcome_unknown=outcome_unknown)
    assert (released.state, released.reason, released.unknown) == (State.RELEASED, "no time", outcome_unknown)
    assert workshop.run().outcome is Outcome.EXECUTED
    assert workshop.attempts == [2]


def test_what_failed_by_hand_is_not_tried_again(workshop: Workshop) -> None:
    failed = workshop.guard.fail(workshop.guard.claim("job"), reason="too old")
    assert (failed.state, failed.reason) == (State.FAILED, "too old")
    with pytest.raises(AlreadyFailed):
        workshop.run()


def test_every_mark_can_be_made_twice(workshop: Workshop) -> None:
    guard = workshop.guard
    claim = guard.claim("done")
    assert guard.complete(claim, 1) == guard.complete(claim, 1)
    claim = guard.claim("given back")
    assert guard.release(claim, reason="r") == guard.release(claim, reason="r")
    claim = guard.claim("failed")
    assert guard.fail(claim, reason="r") == guard.fail(claim, reason="r")


def test_a_claim_that_is_left_alone_ends_with_its_lease(repeatable: Workshop) -> None:
    repeatable.guard.claim("job")
    repeatable.now = TAKEOVER - 1
    assert repeatable.run().outcome is Outcome.SKIPPED_IN_FLIGHT
    repeatable.now = TAKEOVER
    assert repeatable.run().outcome is Outcome.EXECUTED


def _marks(workshop: Workshop, claim: Claim) -> None:
    guard = workshop.guard
    with pytest.raises(LeaseLost):
        guard.complete(claim)
    with pytest.raises(LeaseLost):
        guard.release(claim, reason="r")
    with pytest.raises(LeaseLost):
        guard.fail(claim, reason="r")


def test_a_claim_that_was_taken_over_can_no_longer_be_marked(repeatable: Workshop) -> None:
    late = repeatable.guard.claim("job")
    repeatable.now = TAKEOVER
    repeatable.run()
    before = repeatable.record()
    _marks(repeatable, late)
    assert repeatable.record() == before


def test_a_claim_that_is_not_held_changes_nothing(workshop: Workshop) -> None:
    """Its record is somebody else's, with their owner and attempt."""
    workshop.guard.claim("job")
    refused, before = workshop.guard.claim("job"), workshop.record()
    _marks(workshop, refused)
    assert workshop.record() == before


def test_a_claim_made_by_hand_is_not_ended_by_work_that_raises_elsewhere(workshop: Workshop) -> None:
    mine = workshop.guard.claim("mine")
    workshop.raises = Rejected()
    with pytest.raises(Rejected):
        workshop.run("another")
    assert workshop.guard.complete(mine).state is State.DONE
