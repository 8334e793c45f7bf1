"""Where the store does not say whose a number is: a mark insists, a claim fails closed, nobody believes."""

from contextlib import suppress

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from idempotency.adapters.ssm import SsmLedger
from idempotency.errors import Contended
from idempotency.model import Key, Policy, State, Verdict
from tests.contract.engines import PREFIX
from tests.contract.lives import COLUMNS, MARKS, NOW, OTHER, POLICIES, Worker
from tests.contract.ssm.conftest import Time
from tests.ssm.parameter_store import REST, StrictParameterStore
from tests.ssm.wire import create

BUSY = ["TooManyUpdates", "ThrottlingException"]
OPERATIONS = ["GetParametersByPath", "PutParameter", "GetParameter"]

busy = pytest.mark.parametrize("code", BUSY)
eager = pytest.mark.parametrize("policy", [POLICIES["idempotent-downstream, retry"]], ids=["eager"])


def _rests(store: StrictParameterStore, name: str) -> None:
    """A name that was deleted just now: it is refused, and it can't be read."""
    assert create(store, name) == "created"
    store.delete_parameters(Names=[name])


@busy
def test_a_busy_store_is_asked_again_and_a_claim_is_held(
    code: str, worker: Worker, store: StrictParameterStore, time: Time
) -> None:
    store.faults.refuse("PutParameter", code, calls=[1, 2])
    assert worker.claim().verdict is Verdict.ACQUIRED
    assert worker.complete().state is State.DONE


@busy
def test_a_store_that_stays_busy_is_not_claimed_from(
    code: str, worker: Worker, store: StrictParameterStore, time: Time
) -> None:
    store.faults.refuse("PutParameter", code, calls=range(1, 100))
    with pytest.raises((Contended, ClientError)):
        worker.claim()
    assert store.standing() == {}
    assert 0 < sum(time.pauses) < REST


@busy
def test_a_busy_answer_of_another_ones_number_is_never_mine(
    code: str, worker: Worker, store: StrictParameterStore, ledger: SsmLedger, time: Time
) -> None:
    """The other claims between the listing and the creation; the creation hears `busy` first."""
    stranger = Worker(SsmLedger(store, PREFIX, ledger.policy, pause=time.pause), worker.key, OTHER)
    store.faults.refuse("PutParameter", code, calls=[1])
    store.while_creating = lambda: None
    slept = time.pause

    def meanwhile(seconds: float) -> None:
        slept(seconds)
        stranger.claim()

    overtaken = Worker(SsmLedger(store, PREFIX, ledger.policy, pause=meanwhile), worker.key)
    claim = overtaken.claim()
    assert (claim.verdict, claim.record.owner) == (Verdict.IN_PROGRESS, OTHER)


@pytest.mark.parametrize("seed", range(20))
def test_two_that_overlap_agree_on_who_won(seed: int, key: Key, policy: Policy) -> None:
    """Whatever each of them is told: created, refused, or too many updates, so often that one gives up."""
    store = StrictParameterStore(lambda: NOW, seed=seed)
    ledger = SsmLedger(store, PREFIX, policy, pause=lambda _: None)
    second = []

    def in_the_middle() -> None:
        store.while_creating = lambda: None
        with suppress(Contended):
            second.append(Worker(ledger, key, OTHER).claim().verdict)

    store.while_creating = in_the_middle
    first = Worker(ledger, key).claim()
    assert (first.verdict, first.record.owner) == (Verdict.IN_PROGRESS, OTHER)
    assert second in ([Verdict.ACQUIRED], [])


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_insists_until_the_name_has_rested(
    mark: str, worker: Worker, store: StrictParameterStore, time: Time, path: str
) -> None:
    worker.claim()
    _rests(store, f"{path}/2")
    assert MARKS[mark](worker, now=NOW + 1) == worker.read()
    assert REST <= sum(time.pauses) < 60


@busy
def test_a_mark_insists_while_the_store_is_busy(
    code: str, worker: Worker, store: StrictParameterStore, time: Time
) -> None:
    worker.claim()
    store.faults.refuse("PutParameter", code, calls=range(1, 6))
    assert worker.complete().state is State.DONE


def test_a_claim_does_not_wait_that_long_and_claims_nothing(
    worker: Worker, store: StrictParameterStore, time: Time, path: str
) -> None:
    _rests(store, f"{path}/1")
    with pytest.raises(Contended):
        worker.claim()
    assert store.standing() == {}
    assert sum(time.pauses) < REST


def test_once_the_name_has_rested_it_is_claimed(
    worker: Worker, store: StrictParameterStore, time: Time, path: str
) -> None:
    _rests(store, f"{path}/1")
    time.now += REST
    assert worker.claim().verdict is Verdict.ACQUIRED


def test_an_account_that_is_full_claims_nothing(worker: Worker, store: StrictParameterStore) -> None:
    store.limit = 0
    with pytest.raises(ClientError, match="ParameterLimitExceeded"):
        worker.claim()
    assert store.standing() == {}


def test_where_the_account_fills_up_after_the_claim_the_mark_is_not_made(
    worker: Worker, store: StrictParameterStore
) -> None:
    """The effect has happened: the caller has to hear that nothing says so."""
    worker.claim()
    store.limit = 1
    with pytest.raises(ClientError, match="ParameterLimitExceeded"):
        worker.complete()
    assert worker.read().state is State.IN_PROGRESS


@pytest.mark.parametrize(
    "code", ["AccessDeniedException", "InternalServerError", "ValidationException", "ParameterLimitExceeded"]
)
@pytest.mark.parametrize("call", ["claim", *MARKS])
def test_any_other_error_of_the_store_propagates(
    code: str, call: str, worker: Worker, store: StrictParameterStore
) -> None:
    worker.claim()
    before = store.standing()
    for operation in OPERATIONS:
        store.faults.refuse(operation, code, calls=range(1, 10))
    stranger = Worker(worker.ledger, worker.key, OTHER)
    with pytest.raises(ClientError, match=code):
        stranger.claim() if call == "claim" else MARKS[call](worker, now=NOW + 1)
    assert store.standing() == before


@eager
@pytest.mark.parametrize("column", ["absent", "R", "X", "FAILED", "IN_DOUBT", "expired"])
@pytest.mark.parametrize("operation", ["GetParametersByPath", "PutParameter"])
def test_a_store_that_does_not_answer_is_not_claimed_from(
    operation: str, column: str, policy: Policy, worker: Worker, store: StrictParameterStore
) -> None:
    """A creation may have been made: then its owner is nobody, and the lease ends."""
    COLUMNS[column](worker)
    store.faults.lose_answers(operation, calls=range(1, 100))
    with pytest.raises(BotoCoreError):
        Worker(worker.ledger, worker.key, OTHER).claim()
