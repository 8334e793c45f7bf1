"""The boundaries of retention and lease, and TTL's lag: what is expired is gone before it is deleted."""

from collections.abc import Callable

import pytest

from idempotency.errors import LeaseLost
from idempotency.ledger import Ledger
from idempotency.model import Key, Policy, State, Verdict
from tests.contract.engines import Engine
from tests.contract.lives import (
    AT_MOST_ONCE,
    IDEMPOTENT_DOWNSTREAM,
    LEASE,
    MARGIN,
    MARKS,
    NOW,
    OTHER,
    POLICIES,
    RETENTION,
    Worker,
)

EXPIRES_AT = NOW + RETENTION
TAKEN_OVER_AT = NOW + LEASE + MARGIN

second = pytest.mark.parametrize("offset", [-1, 0, 1])


@second
def test_a_done_record_counts_until_the_second_it_expires(offset: int, worker: Worker) -> None:
    worker.claim()
    worker.complete()
    claim = Worker(worker.ledger, worker.key, OTHER).claim(now=EXPIRES_AT + offset)
    assert claim.verdict is (Verdict.DONE if offset < 0 else Verdict.ACQUIRED)


@second
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_is_lost_from_the_second_the_record_expires(mark: str, offset: int, worker: Worker) -> None:
    worker.claim(lease=RETENTION)
    write = MARKS[mark]
    if offset < 0:
        assert write(worker, now=EXPIRES_AT + offset).updated_at == EXPIRES_AT + offset
        return
    with pytest.raises(LeaseLost) as refusal:
        write(worker, now=EXPIRES_AT + offset)
    assert refusal.value.record is None


@second
@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
def test_a_takeover_succeeds_from_the_second_that_lease_and_margin_end(
    offset: int, policy: Policy, worker: Worker
) -> None:
    worker.claim()
    claim = Worker(worker.ledger, worker.key, OTHER).claim(now=TAKEN_OVER_AT + offset)
    assert claim.verdict is (Verdict.IN_PROGRESS if offset < 0 else Verdict.ACQUIRED)
    assert claim.until == (TAKEN_OVER_AT if offset < 0 else None)


@second
def test_at_most_once_an_abandoned_claim_is_in_doubt_from_the_same_second(
    offset: int, worker: Worker
) -> None:
    worker.claim()
    claim = Worker(worker.ledger, worker.key, OTHER).claim(now=TAKEN_OVER_AT + offset)
    assert claim.verdict is (Verdict.IN_PROGRESS if offset < 0 else Verdict.IN_DOUBT)
    assert claim.record.state is State.IN_PROGRESS


@second
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_the_end_of_the_lease_alone_lets_nobody_in(offset: int, policy: Policy, worker: Worker) -> None:
    worker.claim()
    claim = Worker(worker.ledger, worker.key, OTHER).claim(now=NOW + LEASE + offset)
    assert (claim.verdict, claim.until) == (Verdict.IN_PROGRESS, TAKEN_OVER_AT)


def test_a_lease_of_no_seconds_is_a_lease_that_the_margin_still_guards(worker: Worker) -> None:
    worker.claim(lease=0)
    stranger = Worker(worker.ledger, worker.key, OTHER)
    assert stranger.claim(now=NOW + MARGIN - 1).verdict is Verdict.IN_PROGRESS
    assert stranger.claim(now=NOW + MARGIN).verdict is Verdict.IN_DOUBT


def _abandoned(worker: Worker) -> None:
    worker.claim()


def _abandoned_and_unknown(worker: Worker) -> None:
    worker.claim()
    worker.renew(retried=True)


def _released(worker: Worker) -> None:
    worker.claim()
    worker.release()


def _released_and_unknown(worker: Worker) -> None:
    worker.claim()
    worker.release(outcome_unknown=True)


def _failed(worker: Worker) -> None:
    worker.claim()
    worker.fail()


def _done(worker: Worker) -> None:
    worker.claim()
    worker.complete(result="old")


def _done_and_unknown(worker: Worker) -> None:
    worker.claim()
    worker.renew(retried=True)
    worker.complete(result="old")


@pytest.mark.parametrize("policy", [AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM], ids=lambda p: p.semantics)
@pytest.mark.parametrize(
    "live",
    [
        _abandoned,
        _abandoned_and_unknown,
        _released,
        _released_and_unknown,
        _failed,
        _done,
        _done_and_unknown,
    ],
)
def test_what_ttl_has_not_deleted_yet_is_claimed_as_new(
    live: Callable[[Worker], None], policy: Policy, worker: Worker
) -> None:
    """Whatever it was: nothing of the old life is left but the attempt, which goes on rising."""
    worker.fingerprint = "old"
    live(worker)
    claim = Worker(worker.ledger, worker.key, OTHER, fingerprint="new").claim(now=EXPIRES_AT)
    assert claim.verdict is Verdict.ACQUIRED
    assert claim.record == worker.read()
    assert claim.record.owned_by(OTHER, 2)
    assert (claim.record.unknown, claim.record.fingerprint) == (False, "new")
    assert (claim.record.result, claim.record.reason, claim.record.attention) == (None, None, None)


@pytest.mark.parametrize("live", [_released_and_unknown, _abandoned_and_unknown])
def test_the_old_life_leaves_no_doubt_to_the_life_after_the_next_either(
    live: Callable[[Worker], None], worker: Worker
) -> None:
    live(worker)
    second_life = Worker(worker.ledger, worker.key, OTHER)
    second_life.claim(now=EXPIRES_AT)
    second_life.release(now=EXPIRES_AT)
    third = worker.claim(now=EXPIRES_AT)
    assert (third.verdict, third.record.unknown) == (Verdict.ACQUIRED, False)


def test_doubt_never_expires(engine: Engine, ledger: Ledger, key: Key) -> None:
    worker = Worker(ledger, key)
    worker.claim()
    worker.doubt()
    claim = Worker(ledger, key, OTHER).claim(now=NOW + 1_000 * RETENTION)
    assert (claim.verdict, claim.record.expires_at) == (Verdict.IN_DOUBT, None)


@pytest.mark.parametrize("way_out", ["complete", "fail", "release"])
def test_every_way_out_of_doubt_sets_an_expiry_anew(way_out: str, worker: Worker) -> None:
    worker.claim()
    worker.doubt()
    later = NOW + 10 * RETENTION
    record = MARKS[way_out](worker, now=later)
    assert record.expires_at == later + RETENTION
    assert Worker(worker.ledger, worker.key, OTHER).claim(now=later + RETENTION).verdict is Verdict.ACQUIRED


@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
def test_a_claim_on_a_doubtful_record_sets_an_expiry_anew(policy: Policy, worker: Worker) -> None:
    worker.claim()
    worker.doubt()
    later = NOW + 10 * RETENTION
    claim = Worker(worker.ledger, worker.key, OTHER).claim(now=later)
    assert claim.record.expires_at == later + RETENTION
