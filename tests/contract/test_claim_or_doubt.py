"""A claim after which an abandoned one is on record as IN_DOUBT, so that its caller may dead-letter."""

from typing import cast

import pytest

from idempotency.errors import Contended, LeaseLost
from idempotency.ledger import Ledger, claim_or_doubt
from idempotency.model import Claim, Key, Policy, Record, State, Verdict
from tests.contract.lives import (
    COLUMNS,
    IDEMPOTENT_DOWNSTREAM,
    LEASE,
    NOW,
    OTHER,
    OWNER,
    RETENTION,
    Worker,
)


class _Meanwhile:
    """A ledger in which something happens between an answer and the doubt that follows from it."""

    def __init__(self, ledger: Ledger, events: list[Worker]) -> None:
        self._ledger = ledger
        self._events = events

    def __getattr__(self, name: str) -> object:
        return getattr(self._ledger, name)

    def doubt(self, key: Key, *, owner: str, attempt: int, now: int, reason: str) -> Record:
        if self._events:
            self._events.pop(0).release(now=now)
        return self._ledger.doubt(key, owner=owner, attempt=attempt, now=now, reason=reason)


def _claim_or_doubt(ledger: Ledger, key: Key) -> Claim:
    return claim_or_doubt(ledger, key, owner=OTHER, clock=lambda: NOW, lease=LEASE, retention=RETENTION)


def test_whoever_meets_an_abandoned_claim_puts_the_doubt_on_record(worker: Worker) -> None:
    COLUMNS["X"](worker)
    claim = _claim_or_doubt(worker.ledger, worker.key)
    assert claim.verdict is Verdict.IN_DOUBT
    assert claim.record == worker.read()
    assert claim.record.owned_by(OWNER, 1)
    assert (claim.record.state, claim.record.reason) == (State.IN_DOUBT, "lease-expired")


@pytest.mark.parametrize("column", ["absent", "R", "L", "DONE", "FAILED", "IN_DOUBT"])
def test_any_other_answer_is_passed_on(column: str, worker: Worker) -> None:
    COLUMNS[column](worker)
    stored = worker.ledger.read(worker.key)
    claim = _claim_or_doubt(worker.ledger, worker.key)
    if not claim.held:
        assert claim.record == stored


@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
def test_where_effects_may_be_repeated_an_abandoned_claim_is_taken_over(
    policy: Policy, worker: Worker
) -> None:
    COLUMNS["X"](worker)
    assert _claim_or_doubt(worker.ledger, worker.key).verdict is Verdict.ACQUIRED


def test_an_abandoned_claim_that_moves_while_it_is_doubted_is_claimed_again(worker: Worker) -> None:
    COLUMNS["X"](worker)
    claim = _claim_or_doubt(cast("Ledger", _Meanwhile(worker.ledger, [worker])), worker.key)
    assert claim.verdict is Verdict.ACQUIRED
    assert claim.record.owned_by(OTHER, 2)


class _AlwaysLost:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> object:
        return getattr(self._ledger, name)

    def doubt(self, key: Key, **_: object) -> Record:
        raise LeaseLost(key, None)


def test_one_that_keeps_moving_is_given_up_without_a_claim(worker: Worker) -> None:
    COLUMNS["X"](worker)
    before = worker.read()
    with pytest.raises(Contended):
        _claim_or_doubt(cast("Ledger", _AlwaysLost(worker.ledger)), worker.key)
    assert worker.read() == before
