"""A creation whose answer is lost is sent again by the SDK and meets its own first self."""

from collections.abc import Callable

import pytest

from idempotency.errors import LeaseLost
from idempotency.model import Key, Policy, State
from tests.contract.lives import COLUMNS, MARKS, OTHER, POLICIES, Worker
from tests.ssm.parameter_store import StrictParameterStore

eager = pytest.mark.parametrize("policy", [POLICIES["idempotent-downstream, retry"]], ids=["eager"])


@eager
@pytest.mark.parametrize("column", ["absent", "expired", "R", "X", "FAILED", "IN_DOUBT"])
def test_a_claim_whose_answer_was_lost_is_held_and_was_counted_once(
    column: str, policy: Policy, worker: Worker, store: StrictParameterStore, calls: list[str]
) -> None:
    COLUMNS[column](worker)
    calls.clear()
    store.faults.lose_answers("PutParameter")
    claim = Worker(worker.ledger, worker.key, OTHER).claim()
    assert calls == ["GetParametersByPath", "PutParameter", "PutParameter", "GetParameter"]
    assert claim.held
    assert claim.record.owned_by(OTHER, 1 if column == "absent" else 2)
    assert claim.record == worker.read()
    assert claim.record.unknown is (column in ("X", "IN_DOUBT"))


def _renew_retried(worker: Worker) -> object:
    return worker.renew(retried=True)


def _release_unknown(worker: Worker) -> object:
    return worker.release(outcome_unknown=True)


@pytest.mark.parametrize("column", ["L", "X"])
@pytest.mark.parametrize(
    "mark", [*MARKS.values(), _renew_retried, _release_unknown], ids=lambda mark: mark.__name__
)
def test_a_mark_whose_answer_was_lost_has_succeeded(
    mark: Callable[[Worker], object],
    column: str,
    worker: Worker,
    store: StrictParameterStore,
    path: str,
) -> None:
    """As it would have without the loss: the twin's answers are all heard."""
    twin = Worker(worker.ledger, Key(pk=f"{worker.key.pk}:twin", sk=worker.key.sk), worker.owner)
    for each in (worker, twin):
        COLUMNS[column](each)
    mark(twin)
    store.faults.lose_answers("PutParameter")
    assert mark(worker) == worker.read()
    heard, lost = twin.read(), worker.read()
    for name in ("state", "attempt", "lease_until", "expires_at", "unknown", "reason", "result"):
        assert getattr(lost, name) == getattr(heard, name), name
    assert len(store.standing(path)) == 2


@eager
@pytest.mark.parametrize("operation", ["GetParametersByPath", "GetParameter"])
def test_a_lost_answer_to_a_question_is_asked_for_again(
    operation: str, policy: Policy, worker: Worker, store: StrictParameterStore
) -> None:
    COLUMNS["X"](worker)
    store.faults.lose_answers("PutParameter")
    store.faults.lose_answers(operation)
    assert Worker(worker.ledger, worker.key, OTHER).claim().held


def test_a_lost_answer_to_a_strangers_mark_is_still_a_refusal(
    worker: Worker, store: StrictParameterStore
) -> None:
    worker.claim()
    for mark in MARKS.values():
        store.faults.lose_answers("PutParameter")
        with pytest.raises(LeaseLost):
            mark(Worker(worker.ledger, worker.key, OTHER))
    assert worker.read().state is State.IN_PROGRESS
