"""A worker that comes late: somebody else has taken its event over, and none of its writes counts."""

from collections.abc import Callable

import pytest

from idempotency.errors import LeaseLost
from idempotency.model import Policy
from tests.contract.engines import Engine
from tests.contract.lives import IDEMPOTENT_DOWNSTREAM, LEASE, MARGIN, MARKS, NOW, OTHER, Worker

STARTED = NOW - LEASE - MARGIN


def _working(_: Worker) -> None:
    pass


WINNERS: dict[str, Callable[[Worker], object]] = {
    "is working": _working,
    "is done": Worker.complete,
    "has failed": Worker.fail,
    "is in doubt": Worker.doubt,
    "has given it back": Worker.release,
}


@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
@pytest.mark.parametrize("winner", WINNERS)
def test_after_a_takeover_nothing_of_the_late_worker_counts(
    winner: str, policy: Policy, engine: Engine, worker: Worker
) -> None:
    worker.claim(now=STARTED)
    taker = Worker(worker.ledger, worker.key, OTHER)
    assert taker.claim().held
    WINNERS[winner](taker)
    before = engine.at_rest(worker.ledger, worker.key)
    for name, mark in MARKS.items():
        with pytest.raises(LeaseLost) as refusal:
            mark(worker)
        assert refusal.value.record == taker.read(), name
    with pytest.raises(LeaseLost):
        worker.release(outcome_unknown=True)
    with pytest.raises(LeaseLost):
        worker.renew(retried=True)
    assert engine.at_rest(worker.ledger, worker.key) == before


@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
def test_the_same_owner_at_an_earlier_attempt_is_fenced_like_anybody(
    policy: Policy, engine: Engine, worker: Worker
) -> None:
    """Two invocations of one execution: the later claim counts."""
    worker.claim(now=STARTED)
    late = Worker(worker.ledger, worker.key, worker.owner, attempt=1)
    assert worker.claim().record.attempt == 2
    before = engine.at_rest(worker.ledger, worker.key)
    for mark in MARKS.values():
        with pytest.raises(LeaseLost):
            mark(late)
    assert engine.at_rest(worker.ledger, worker.key) == before


def test_a_worker_whose_lease_has_ended_but_was_not_taken_over_still_counts(worker: Worker) -> None:
    worker.claim(now=STARTED - 100)
    assert worker.complete().result == "null"


def test_a_refusal_says_who_holds_the_record(worker: Worker) -> None:
    worker.claim()
    with pytest.raises(LeaseLost, match=f"IN_PROGRESS under {worker.owner}, attempt 1"):
        Worker(worker.ledger, worker.key, OTHER).complete()
