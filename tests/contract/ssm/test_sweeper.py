"""The sweeper: what is over goes in four runs, what is alive or in doubt never, whatever a listing shows."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError

from idempotency.adapters.ssm import SsmLedger, Sweep, Sweeper
from idempotency.model import Key, Policy, Verdict
from tests.contract.engines import PREFIX
from tests.contract.lives import COLUMNS, IDEMPOTENT_DOWNSTREAM, LEASE, NOW, OTHER, RETENTION, Worker
from tests.contract.ssm.conftest import Time
from tests.contract.ssm.former_listing import FormerListing
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.wire import create

HOUR = 3_600
AGED = HOUR + 900  # when every listing shows a step, however long its call took

Run = Callable[..., Sweep]


@pytest.fixture
def run(store: StrictParameterStore, time: Time) -> Run:
    def sweep(client: Any = store, *, calls: int = 1_000) -> Sweep:
        """`calls`: for how many there is time."""
        left = iter(range(calls))
        return Sweeper(
            client,
            client,
            PREFIX,
            clock=lambda: int(time.now),
            pause=time.pause,
            enough_time=lambda: next(left, None) is not None,
            staleness=HOUR,
        ).run()

    return sweep


def _notes(store: StrictParameterStore, path: str) -> list[int]:
    """The numbers that stand."""
    return sorted(int(name.rpartition("/")[2]) for name in store.standing(path))


def test_a_key_that_is_over_goes_in_four_runs(
    run: Run, worker: Worker, store: StrictParameterStore, time: Time, path: str
) -> None:
    worker.claim()
    worker.complete()
    stands = []
    for seconds in (RETENTION, AGED, 1, AGED):
        time.now += seconds
        run()
        stands.append(_notes(store, path))
    assert stands == [[1, 2, 3], [3], [3, 4], []]


def test_in_the_meantime_nobody_gets_it_and_afterwards_anybody(
    run: Run, worker: Worker, store: StrictParameterStore, time: Time, policy: Policy
) -> None:
    worker.claim()
    worker.complete()
    for seconds in (RETENTION, AGED, 1):
        time.now += seconds
        run()
        fresh = Worker(SsmLedger(store, PREFIX, policy, pause=time.pause), worker.key, OTHER)
        assert fresh.claim(now=int(time.now)).verdict is Verdict.IN_PROGRESS
    time.now += AGED
    run()
    assert fresh.claim(now=int(time.now)).record.attempt == 1


@pytest.mark.parametrize("column", ["R", "L", "X", "DONE", "FAILED"])
def test_a_key_that_is_not_over_stays(
    column: str, run: Run, worker: Worker, store: StrictParameterStore, time: Time
) -> None:
    COLUMNS[column](worker)
    before = worker.read()
    time.now = (before.expires_at or 0) - 1
    assert (run().swept, worker.read()) == (0, before)


def test_what_is_in_doubt_stays_for_good(run: Run, worker: Worker, time: Time, path: str) -> None:
    COLUMNS["IN_DOUBT"](worker)
    before = worker.read()
    for _ in range(5):
        time.now += 1_000 * RETENTION
        run()
        assert worker.read() == before


def test_old_numbers_of_a_key_that_stays_go(
    run: Run, worker: Worker, store: StrictParameterStore, time: Time, path: str
) -> None:
    worker.claim(retention=10 * AGED)
    worker.renew(now=NOW + 1, lease=5 * AGED)
    worker.complete(now=NOW + AGED, retention=10 * AGED)
    time.now = NOW + 1 + AGED
    run()
    assert _notes(store, path) == [2, 3]  # 3 is too fresh for every listing to show it
    time.now += AGED
    run()
    assert _notes(store, path) == [3]


def test_no_number_goes_before_every_listing_shows_the_one_that_replaces_it(
    run: Run, worker: Worker, store: StrictParameterStore, time: Time, path: str
) -> None:
    worker.claim()
    worker.complete()
    time.now += RETENTION
    run()
    time.now += AGED - 1
    run()
    assert _notes(store, path)[-1] == 3
    assert _notes(store, path)[:-1] in ([1, 2], [2])


def test_somebody_who_claims_an_expired_key_first_keeps_it(
    run: Run, worker: Worker, store: StrictParameterStore, time: Time
) -> None:
    """Between the sweeper's look and its step."""
    worker.claim()
    time.now += RETENTION
    taker = Worker(SsmLedger(store, PREFIX, IDEMPOTENT_DOWNSTREAM, pause=time.pause), worker.key, OTHER)
    store.while_creating = lambda: _once(store, lambda: taker.claim(now=int(time.now)))
    run()
    assert taker.complete(now=int(time.now)).owned_by(OTHER, 2)
    assert taker.read().owned_by(OTHER, 2)


def _once(store: StrictParameterStore, meanwhile: Callable[[], object]) -> None:
    store.while_creating = lambda: None
    meanwhile()


@pytest.fixture
def gone(run: Run, worker: Worker, store: StrictParameterStore, time: Time, path: str) -> FormerListing:
    """A key that was swept just now, and what listings showed of it right before."""
    worker.claim()
    worker.complete()
    client = FormerListing(store)
    for seconds in (RETENTION, AGED, 1, AGED):
        time.now += seconds
        client.remember(path)
        run()
    assert _notes(store, path) == []
    time.now += 60
    return client


GHOSTS = [(3,), (4,), (3, 4)]


@pytest.mark.parametrize("ghosts", GHOSTS, ids=str)
def test_nothing_is_put_on_top_of_what_is_gone(
    ghosts: tuple[int, ...], gone: FormerListing, run: Run, store: StrictParameterStore, path: str
) -> None:
    gone.stale = tuple(f"{path}/{number}" for number in ghosts)
    run(gone)
    assert _notes(store, path) == []


@pytest.mark.parametrize("numbers", [1, 2, 3, 4])
@pytest.mark.parametrize("ghosts", GHOSTS, ids=str)
def test_a_new_life_is_not_taken_for_the_old_one(
    ghosts: tuple[int, ...],
    numbers: int,
    gone: FormerListing,
    run: Run,
    store: StrictParameterStore,
    time: Time,
    key: Key,
    path: str,
) -> None:
    """The listing shows the old life's last numbers, which the new one may have come to use."""
    worker = Worker(SsmLedger(store, PREFIX, IDEMPOTENT_DOWNSTREAM, pause=time.pause), key, "new life")
    worker.claim(now=int(time.now))
    for second in range(1, numbers):
        worker.renew(now=int(time.now) + second, lease=LEASE)
    gone.stale = tuple(f"{path}/{number}" for number in ghosts)
    before = store.standing(path)
    run(gone)
    assert store.standing(path) == before


def test_a_run_that_is_out_of_time_leaves_the_rest_to_the_next(
    run: Run, ledger: SsmLedger, store: StrictParameterStore, time: Time
) -> None:
    for number in range(3):
        Worker(ledger, Key(pk=f"REG-{number}", sk="contract")).claim()
    time.now += RETENTION
    assert [run(calls=1).swept for _ in range(2)] == [1, 1]
    assert run().swept == 1


@pytest.mark.parametrize("operation", ["PutParameter", "DeleteParameters"])
def test_a_run_survives_throttling(
    operation: str, run: Run, worker: Worker, store: StrictParameterStore, time: Time, path: str
) -> None:
    worker.claim()
    for seconds in (RETENTION, AGED, 1, AGED):
        store.faults.refuse(operation, "ThrottlingException", calls=[1, 2])
        time.now += seconds
        assert run().failed == []
    assert _notes(store, path) == []


def test_what_fails_is_named_and_the_others_are_done(
    run: Run, ledger: SsmLedger, store: StrictParameterStore, time: Time
) -> None:
    for number in range(3):
        Worker(ledger, Key(pk=f"REG-{number}", sk="contract")).claim()
    time.now += RETENTION
    store.faults.refuse("PutParameter", "InternalServerError")
    sweep = run()
    assert (sweep.swept, len(sweep.failed)) == (2, 1)
    assert sweep.failed[0].startswith(PREFIX)


def test_a_delete_that_nobody_hears_of_is_not_sent_again(
    run: Run, worker: Worker, store: StrictParameterStore, time: Time, calls: list[str]
) -> None:
    worker.claim()
    time.now += RETENTION
    run()
    time.now += AGED
    calls.clear()
    store.faults.lose_answers("DeleteParameters")
    assert len(run().failed) == 1
    assert calls.count("DeleteParameters") == 1


def test_half_a_listing_is_none(run: Run, worker: Worker, store: StrictParameterStore, time: Time) -> None:
    worker.claim()
    time.now += RETENTION
    store.faults.lose_answers("GetParametersByPath")
    with pytest.raises(BotoCoreError):
        run()
    assert len(store.standing()) == 1


@pytest.mark.parametrize("value", ["", "x", "[]", '{"state":"DONE"}', "{}"])
def test_what_is_no_step_is_named_and_left_alone_with_its_key(
    value: str, run: Run, worker: Worker, store: StrictParameterStore, time: Time, path: str
) -> None:
    worker.claim()
    create(store, f"{path}/3", value or "-")
    create(store, f"{PREFIX}/something/else")
    before = store.standing()
    time.now += RETENTION
    sweep = run()
    assert store.standing() == before
    assert len(sweep.failed) == 2
    assert sweep.parameters == 3


def test_it_counts_what_is_left_below_its_prefix(
    run: Run, ledger: SsmLedger, store: StrictParameterStore, time: Time
) -> None:
    create(store, "/idempotency/contract-2/other/1")
    for number in range(15):
        Worker(ledger, Key(pk=f"REG-{number}", sk="contract")).claim()
    assert run().parameters == 15
    time.now += RETENTION
    assert run() == Sweep(parameters=30, swept=15, deleted=0)
    time.now += AGED
    assert run() == Sweep(parameters=15, swept=0, deleted=15)
