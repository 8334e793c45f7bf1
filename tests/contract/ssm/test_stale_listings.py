"""A listing may be stale by up to an hour: claims and marks decide by what can be created."""

from itertools import count

import pytest

from idempotency.adapters.ssm import SsmLedger
from idempotency.errors import Contended
from idempotency.model import Key, Policy, Verdict
from tests.contract.engines import PREFIX
from tests.contract.lives import IDEMPOTENT_DOWNSTREAM, LEASE, MARGIN, MARKS, NOW, OTHER, Worker
from tests.contract.ssm.conftest import Time
from tests.ssm.parameter_store import StrictParameterStore

HOUR = 3_600

torn = pytest.mark.parametrize("torn", [False, True], ids=["one moment a page", "each name its own"])


@torn
def test_a_claim_that_no_listing_shows_yet_is_not_claimed_again(
    torn: bool, store: StrictParameterStore, time: Time, ledger: SsmLedger, key: Key
) -> None:
    store.staleness, store.torn = HOUR, torn
    Worker(ledger, key).claim()
    for number in range(20):
        verdict = Worker(ledger, key, f"stranger-{number}").claim().verdict
        assert verdict is Verdict.IN_PROGRESS


@torn
def test_what_is_done_is_done_however_long_a_listing_hides_it(
    torn: bool, store: StrictParameterStore, time: Time, policy: Policy, key: Key
) -> None:
    """An answer from a step that is not the last may be 'in progress', never 'acquired'."""
    store.staleness, store.torn = HOUR, torn
    worker = Worker(SsmLedger(store, PREFIX, policy, pause=time.pause), key)
    worker.claim()
    worker.renew(now=NOW + 1)
    worker.complete(now=NOW + 2)
    for number in range(20):
        stranger = SsmLedger(store, PREFIX, policy, pause=time.pause)  # one that remembers nothing
        verdict = Worker(stranger, key, f"stranger-{number}").claim(now=NOW + 3).verdict
        assert verdict in (Verdict.IN_PROGRESS, Verdict.DONE)


@torn
@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
def test_an_abandoned_claim_is_taken_over_by_one_alone(
    torn: bool, policy: Policy, store: StrictParameterStore, time: Time, key: Key
) -> None:
    store.staleness, store.torn = HOUR, torn
    owners = count(1)

    def claim(now: int) -> Verdict:
        fresh = SsmLedger(store, PREFIX, policy, pause=time.pause)
        return Worker(fresh, key, f"owner-{next(owners)}").claim(now=now).verdict

    assert claim(NOW) is Verdict.ACQUIRED
    later = [claim(NOW + LEASE + MARGIN) for _ in range(20)]
    assert later[0] is Verdict.ACQUIRED
    assert set(later[1:]) == {Verdict.IN_PROGRESS}


@torn
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_a_process_that_remembers_its_claim_needs_no_listing(
    mark: str, torn: bool, store: StrictParameterStore, worker: Worker
) -> None:
    store.staleness, store.torn = HOUR, torn
    worker.claim()
    MARKS[mark](worker)


def test_a_claim_that_cannot_follow_any_longer_claims_nothing(
    store: StrictParameterStore, time: Time, ledger: SsmLedger, worker: Worker
) -> None:
    """A hundred numbers behind: it gives up, and comes back when the listing has caught up."""
    worker.claim(lease=1_000)
    for second in range(100):
        worker.renew(now=NOW + 1 + second, lease=1)
    before = store.standing()
    store.staleness = HOUR
    stranger = Worker(ledger, worker.key, OTHER)
    for _ in range(20):
        try:
            verdict = stranger.claim(now=NOW + 101).verdict
        except Contended:
            continue
        assert verdict in (Verdict.IN_PROGRESS, Verdict.IN_DOUBT)
    assert store.standing() == before
