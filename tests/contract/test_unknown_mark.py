"""The unknown mark, some earlier try may have had its effect: what sets it, keeps it and clears it."""

import pytest

from idempotency.model import Policy, State, Verdict
from tests.contract.lives import (
    COLUMNS,
    IDEMPOTENT_DOWNSTREAM,
    LEASE,
    MARGIN,
    NOW,
    OTHER,
    OWNER,
    POLICIES,
    RETENTION,
    Worker,
)

under_both = pytest.mark.parametrize(
    "policy", [POLICIES["at-most-once"], POLICIES["idempotent-downstream"]], ids=lambda p: p.semantics
)
idempotent_downstream = pytest.mark.parametrize(
    "policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"]
)


def test_a_new_event_is_not_marked(worker: Worker) -> None:
    assert worker.claim().record.unknown is False


@idempotent_downstream
@pytest.mark.parametrize("column", ["X", "IN_DOUBT"])
def test_a_claim_that_replaces_an_abandoned_or_doubtful_one_sets_it(
    column: str, policy: Policy, worker: Worker
) -> None:
    COLUMNS[column](worker)
    claim = Worker(worker.ledger, worker.key, OTHER).claim()
    assert (claim.verdict, claim.record.unknown) == (Verdict.ACQUIRED, True)


@pytest.mark.parametrize("policy", [POLICIES["idempotent-downstream, retry"]], ids=["retry"])
@pytest.mark.parametrize("column", ["expired", "R", "FAILED"])
def test_a_claim_that_replaces_anything_else_does_not(column: str, policy: Policy, worker: Worker) -> None:
    COLUMNS[column](worker)
    claim = Worker(worker.ledger, worker.key, OTHER).claim()
    assert (claim.verdict, claim.record.unknown) == (Verdict.ACQUIRED, False)


def test_a_renewal_for_a_retried_effect_sets_it(worker: Worker) -> None:
    worker.claim()
    assert worker.renew(retried=True).unknown is True


def test_a_plain_renewal_does_not_and_does_not_clear_it_either(worker: Worker) -> None:
    worker.claim()
    assert worker.renew().unknown is False
    worker.renew(retried=True)
    assert worker.renew().unknown is True


@under_both
@pytest.mark.parametrize("known", [True, False])
def test_a_release_keeps_it_and_an_unknown_outcome_sets_it(
    known: bool, policy: Policy, worker: Worker
) -> None:
    worker.claim()
    assert worker.release(outcome_unknown=not known).unknown is not known
    claim = Worker(worker.ledger, worker.key, OTHER).claim()
    assert (claim.verdict, claim.record.unknown) == (Verdict.ACQUIRED, not known)


def test_it_sticks_through_releases_and_claims(worker: Worker) -> None:
    worker.claim()
    worker.release(outcome_unknown=True)
    for owner in (OTHER, OWNER, OTHER):
        holder = Worker(worker.ledger, worker.key, owner)
        assert holder.claim().record.unknown is True
        assert holder.release().unknown is True


@idempotent_downstream
def test_it_sticks_through_takeovers_and_doubt(policy: Policy, worker: Worker) -> None:
    COLUMNS["X"](worker)
    holder = Worker(worker.ledger, worker.key, OTHER)
    assert holder.claim().record.unknown is True
    assert holder.doubt().unknown is True
    assert worker.claim().record.unknown is True
    assert worker.release().unknown is True


@pytest.mark.parametrize("column", ["L", "X"])
def test_failing_on_a_marked_record_is_doubt(column: str, worker: Worker) -> None:
    """FAILED says that the effect certainly did not happen: this attempt knows only of itself."""
    COLUMNS[column](worker)
    worker.renew(now=NOW - LEASE - MARGIN + 1, lease=LEASE, retried=True)
    record = worker.fail(reason="rejected")
    assert record == worker.read()
    assert (record.state, record.unknown, record.expires_at) == (State.IN_DOUBT, True, None)
    assert (record.reason, record.updated_at) == ("rejected", NOW)


def test_failing_on_a_marked_doubtful_record_leaves_it_in_doubt(worker: Worker) -> None:
    worker.claim(now=NOW - 3)
    worker.renew(now=NOW - 2, retried=True)
    doubtful = worker.doubt(now=NOW - 1)
    assert worker.fail() == doubtful == worker.read()


def test_failing_a_doubtful_record_that_is_not_marked_settles_it(worker: Worker) -> None:
    worker.claim()
    worker.doubt()
    assert worker.fail().state is State.FAILED


@pytest.mark.parametrize("policy", [POLICIES["at-most-once, retry"]], ids=["retry"])
def test_a_retry_of_a_failed_event_starts_unmarked(policy: Policy, worker: Worker) -> None:
    worker.claim()
    worker.doubt()
    worker.fail()
    claim = Worker(worker.ledger, worker.key, OTHER).claim()
    assert (claim.verdict, claim.record.unknown) == (Verdict.ACQUIRED, False)


def test_expiry_clears_it(worker: Worker) -> None:
    worker.claim()
    worker.release(outcome_unknown=True)
    assert worker.claim(now=NOW + RETENTION - 1).record.unknown is True
    worker.release(now=NOW + RETENTION - 1)
    assert worker.claim(now=NOW + 2 * RETENTION).record.unknown is False
