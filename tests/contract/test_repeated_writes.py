"""Every write made twice, as the SDK does after a lost answer: the same answer, and nothing changed by it."""

import pytest

from idempotency.model import Policy, State, Verdict
from tests.contract.engines import Engine
from tests.contract.lives import COLUMNS, LEASE, MARKS, NOW, OTHER, POLICIES, Worker

RESULT = {"receipt": 7}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
@pytest.mark.parametrize("column", ["absent", "expired", "R"])
def test_a_claim_finds_itself_and_does_not_count_twice(
    column: str, policy: Policy, engine: Engine, worker: Worker
) -> None:
    COLUMNS[column](worker)
    _claim_twice(engine, Worker(worker.ledger, worker.key, OTHER))


@pytest.mark.parametrize("policy", [POLICIES["idempotent-downstream, retry"]], ids=["eager"])
@pytest.mark.parametrize("column", ["X", "FAILED", "IN_DOUBT"])
def test_a_claim_that_takes_over_finds_itself_too(
    column: str, policy: Policy, engine: Engine, worker: Worker
) -> None:
    COLUMNS[column](worker)
    _claim_twice(engine, Worker(worker.ledger, worker.key, OTHER))


def _claim_twice(engine: Engine, claimant: Worker) -> None:
    first = claimant.claim()
    before = engine.at_rest(claimant.ledger, claimant.key)
    again = claimant.claim(now=NOW + 1)
    assert (first.verdict, again.verdict) == (Verdict.ACQUIRED, Verdict.STILL_MINE)
    assert again.record == first.record
    assert engine.at_rest(claimant.ledger, claimant.key) == before


@pytest.mark.parametrize("column", ["L", "X", "IN_DOUBT", "FAILED", "R"])
def test_complete_finds_itself(column: str, engine: Engine, worker: Worker) -> None:
    COLUMNS[column](worker)
    first = worker.complete(result=RESULT)
    before = engine.at_rest(worker.ledger, worker.key)
    assert worker.complete(now=NOW + 1, result=RESULT) == first
    assert engine.at_rest(worker.ledger, worker.key) == before


@pytest.mark.parametrize("marked_unknown", [False, True])
@pytest.mark.parametrize("mark", ["fail", "doubt", "release"])
def test_any_other_mark_finds_itself(mark: str, marked_unknown: bool, engine: Engine, worker: Worker) -> None:
    worker.claim()
    worker.renew(retried=marked_unknown)
    first = MARKS[mark](worker)
    before = engine.at_rest(worker.ledger, worker.key)
    assert MARKS[mark](worker, now=NOW + 1) == first
    assert engine.at_rest(worker.ledger, worker.key) == before


def test_a_release_after_an_unknown_outcome_finds_itself(engine: Engine, worker: Worker) -> None:
    worker.claim()
    first = worker.release(outcome_unknown=True)
    before = engine.at_rest(worker.ledger, worker.key)
    assert worker.release(now=NOW + 1, outcome_unknown=True) == first
    assert engine.at_rest(worker.ledger, worker.key) == before


@pytest.mark.parametrize("retried", [False, True])
def test_a_renewal_can_be_made_twice(retried: bool, engine: Engine, worker: Worker) -> None:
    worker.claim()
    first = worker.renew(now=NOW + 1, retried=retried)
    before = engine.at_rest(worker.ledger, worker.key)
    assert worker.renew(now=NOW + 1, retried=retried) == first
    assert first.lease_until == NOW + 1 + LEASE
    assert engine.at_rest(worker.ledger, worker.key) == before


def test_an_owner_at_most_once_keeps_the_claim_that_it_abandoned(worker: Worker) -> None:
    """A guard that is retried after its lease: nobody else can have begun the effect."""
    COLUMNS["X"](worker)
    claim = worker.claim()
    assert (claim.verdict, claim.record.attempt, claim.held) == (Verdict.STILL_MINE, 1, True)
    assert worker.renew().state is State.IN_PROGRESS
