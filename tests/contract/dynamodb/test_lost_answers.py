"""A write whose answer is lost is sent again by the SDK and meets its own first self."""

from collections.abc import Callable

import pytest

from idempotency.errors import LeaseLost
from idempotency.model import Key, Policy, State
from tests.contract.lives import COLUMNS, MARKS, NOW, OTHER, POLICIES, RETENTION, Worker


@pytest.mark.parametrize("policy", [POLICIES["idempotent-downstream, retry"]], ids=["eager"])
@pytest.mark.parametrize("column", ["absent", "expired", "R", "X", "FAILED", "IN_DOUBT"])
def test_a_claim_whose_answer_was_lost_is_held_and_was_counted_once(
    column: str,
    policy: Policy,
    worker: Worker,
    calls: list[str],
    request: pytest.FixtureRequest,
) -> None:
    COLUMNS[column](worker)
    calls.clear()
    request.getfixturevalue("answers_are_lost")
    claim = Worker(worker.ledger, worker.key, OTHER).claim()
    assert calls == ["UpdateItem"] * 2
    assert claim.held
    assert claim.record.owned_by(OTHER, 1 if column == "absent" else 2)
    assert claim.record == worker.read()
    assert claim.record.unknown is (column in ("X", "IN_DOUBT"))


def test_so_is_one_that_revives_what_expired_while_its_outcome_was_open(
    worker: Worker, request: pytest.FixtureRequest
) -> None:
    worker.claim(now=NOW - RETENTION)
    request.getfixturevalue("answers_are_lost")
    claim = Worker(worker.ledger, worker.key, OTHER).claim()
    assert claim.held
    assert (claim.record.attempt, claim.record.unknown) == (2, False)
    assert claim.record == worker.read()


def _fail_on_unknown(worker: Worker) -> object:
    worker.renew(retried=True)
    return worker.fail()


def _release_unknown(worker: Worker) -> object:
    return worker.release(outcome_unknown=True)


def _renew_retried(worker: Worker) -> object:
    return worker.renew(retried=True)


@pytest.mark.parametrize("column", ["L", "X"])
@pytest.mark.parametrize(
    "mark",
    [*MARKS.values(), _renew_retried, _fail_on_unknown, _release_unknown],
    ids=lambda mark: mark.__name__,
)
def test_a_mark_whose_answer_was_lost_has_succeeded(
    mark: Callable[[Worker], object], column: str, worker: Worker, request: pytest.FixtureRequest
) -> None:
    """As it would have without the loss: the twin's answers are all heard."""
    twin = Worker(worker.ledger, worker.key, OTHER)
    twin.key = Key(pk=f"{worker.key.pk}:twin", sk=worker.key.sk)
    twin.owner = worker.owner
    for each in (worker, twin):
        COLUMNS[column](each)
    mark(twin)
    request.getfixturevalue("answers_are_lost")
    assert mark(worker) == worker.read()
    heard, lost = twin.read(), worker.read()
    for name in ("state", "attempt", "lease_until", "expires_at", "unknown", "reason", "result"):
        assert getattr(lost, name) == getattr(heard, name), name


def test_a_lost_answer_to_a_strangers_mark_is_still_a_refusal(
    worker: Worker, request: pytest.FixtureRequest
) -> None:
    worker.claim()
    request.getfixturevalue("answers_are_lost")
    for mark in MARKS.values():
        with pytest.raises(LeaseLost):
            mark(Worker(worker.ledger, worker.key, OTHER))
    assert worker.read().state is State.IN_PROGRESS
