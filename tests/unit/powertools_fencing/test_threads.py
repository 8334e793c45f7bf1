"""One layer, one process, many threads."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from contextvars import copy_context
from threading import Barrier, Event
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools.shared.cache_dict import LRUDict
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyAlreadyInProgressError
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import DataRecord

from tests.unit.powertools_fencing.table import (
    ENOUGH,
    LONG_OVER,
    LambdaContext,
    Ongoing,
    Process,
    fenced,
    original,
    records,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

THREADS = 50
A_MOMENT = 0.2  # seconds that another thread gets for what it must not be able to do


@pytest.mark.parametrize("cached", [False, True], ids=["", "local cache"])
@pytest.mark.parametrize("before", ["absent", "abandoned"])
def test_one_of_fifty_threads_runs(before: str, cached: bool, dynamodb: "DynamoDBClient") -> None:
    if before == "abandoned":
        Process(fenced(dynamodb), LONG_OVER).abandon()
    process = Process(fenced(dynamodb), options={"use_local_cache": cached})
    start, over = Barrier(THREADS), Barrier(THREADS)

    def effect() -> object:
        over.wait(timeout=30)  # until all others have been turned away
        return "charged"

    def run(delivery: int) -> object:
        start.wait(timeout=30)
        try:
            return process.charge(effect, deliveredAs=delivery)
        except IdempotencyAlreadyInProgressError:
            over.wait(timeout=30)
            return "in progress"

    with ThreadPoolExecutor(THREADS) as threads:
        answers = Counter(threads.map(run, range(THREADS)))
    assert answers == {"charged": 1, "in progress": THREADS - 1}
    assert process.runs == 1
    assert process.charge() == "charged"


def test_threads_of_one_layer_fence_each_other_off(dynamodb: "DynamoDBClient") -> None:
    """Both calls of one key at the same time in one process: a map from key to token would mix them up."""
    process = Process(fenced(dynamodb), LONG_OVER)
    ongoing = Ongoing(process)
    taker = Ongoing(process)
    with pytest.raises(TimeoutError):
        ongoing.end(TimeoutError())
    assert records(dynamodb)[0]["status"] == "INPROGRESS"
    assert taker.end("taker's") == "taker's"
    assert process.charge() == "taker's"


def test_a_thread_that_inherits_its_starters_context_has_calls_of_its_own(
    dynamodb: "DynamoDBClient",
) -> None:
    process = Process(fenced(dynamodb))

    def fan_out() -> object:
        with ThreadPoolExecutor(4) as threads:
            runs = [
                threads.submit(copy_context().run, process.charge, lambda: "item", orderId=f"O-1/{n}")
                for n in range(8)
            ]
            return [run.result(timeout=30) for run in runs]

    assert process.charge(fan_out) == ["item"] * 8
    assert len(records(dynamodb)) == 9
    assert {record["status"] for record in records(dynamodb)} == {"COMPLETED"}


class Interrupted(LambdaContext):
    """Powertools asks for the time left between preparing a call and claiming."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def get_remaining_time_in_millis(self) -> int:
        self.meanwhile()
        return super().get_remaining_time_in_millis()


def _task(layer: DynamoDBPersistenceLayer, prefix: str, context: Any) -> Callable[..., Any]:
    def task(*, order: str, work: Callable[[], object]) -> object:
        return work()

    guarded: Callable[..., Any] = idempotent_function(
        task,
        data_keyword_argument="order",
        persistence_store=layer,
        config=IdempotencyConfig(lambda_context=context),
        key_prefix=prefix,
    )
    return guarded


@pytest.mark.parametrize(
    ("layer", "prefixes"),
    [(original, {"provision": 2}), (fenced, {"charge": 1, "provision": 1})],
    ids=["original", "fenced"],
)
def test_a_function_claims_under_its_own_key_while_another_begins_on_the_same_layer(
    layer: Callable[..., DynamoDBPersistenceLayer], prefixes: dict[str, int], dynamodb: "DynamoDBClient"
) -> None:
    shared, context = layer(dynamodb), Interrupted(ENOUGH)
    charge, provision = _task(shared, "charge", context), _task(shared, "provision", LambdaContext(ENOUGH))
    with ThreadPoolExecutor(1) as thread:
        context.meanwhile = lambda: thread.submit(provision, order="O-2", work=lambda: "provisioned").result(
            30
        )
        charge(order="O-1", work=lambda: "charged")
    assert Counter(record["id"].partition("#")[0] for record in records(dynamodb)) == prefixes


@pytest.mark.parametrize(
    ("layer", "ends_under_its_own_key"), [(original, False), (fenced, True)], ids=["original", "fenced"]
)
def test_a_function_ends_under_its_own_key_while_another_begins_on_the_same_layer(
    layer: Callable[..., DynamoDBPersistenceLayer], ends_under_its_own_key: bool, dynamodb: "DynamoDBClient"
) -> None:
    shared = layer(dynamodb)
    charge, provision = (
        _task(shared, "charge", LambdaContext(ENOUGH)),
        _task(shared, "provision", LambdaContext(ENOUGH)),
    )
    charging, provisioned = Event(), Event()

    def work() -> object:
        charging.set()
        assert provisioned.wait(timeout=30)
        return "charged"

    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(charge, order="O-1", work=work)
        assert charging.wait(timeout=30)
        provision(order="O-2", work=lambda: "provisioned")
        provisioned.set()
        call.result(timeout=30)
    first = next(each for each in records(dynamodb) if each["id"].startswith("charge#"))
    assert (first["status"] == "COMPLETED") is ends_under_its_own_key


class SlowConfig(IdempotencyConfig):
    """Lets something happen while the layer is being configured."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    @property
    def payload_validation_jmespath(self) -> str:
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        return ""

    @payload_validation_jmespath.setter
    def payload_validation_jmespath(self, _: str) -> None:
        pass


@pytest.mark.parametrize(("layer", "whole"), [(original, False), (fenced, True)], ids=["original", "fenced"])
def test_no_call_begins_on_a_layer_that_is_half_configured(
    layer: Callable[..., DynamoDBPersistenceLayer], whole: bool, dynamodb: "DynamoDBClient"
) -> None:
    """It would take its key from the whole payload, or go on without one."""
    shared, config = layer(dynamodb), SlowConfig(raise_on_no_idempotency_key=True)

    def begin() -> bool:
        shared.configure(config)
        return shared.raise_on_no_idempotency_key

    with ThreadPoolExecutor(1) as thread:
        begun: list[Future[bool]] = []

        def meanwhile() -> None:
            begun.append(thread.submit(begin))
            wait(begun, timeout=A_MOMENT)

        config.meanwhile = meanwhile
        shared.configure(config)
    assert begun[0].result(timeout=30) is whole


class SlowCache(LRUDict):
    """Lets something happen between a look-up and what follows from it."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def __contains__(self, key: object) -> bool:
        found = super().__contains__(key)
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        return found


@pytest.mark.parametrize(("layer", "safe"), [(original, False), (fenced, True)], ids=["original", "fenced"])
def test_threads_do_not_trip_over_each_other_in_the_local_cache(
    layer: Callable[..., DynamoDBPersistenceLayer], safe: bool, dynamodb: "DynamoDBClient"
) -> None:
    shared, cache = layer(dynamodb), SlowCache()  # type: ignore[no-untyped-call]
    shared.configure(IdempotencyConfig(use_local_cache=True))
    shared._cache = cache
    cache["key"] = DataRecord("key")
    with ThreadPoolExecutor(1) as thread:
        cache.meanwhile = lambda: wait([thread.submit(shared._delete_from_cache, "key")], timeout=A_MOMENT)
        with nullcontext() if safe else pytest.raises(KeyError):
            shared._delete_from_cache("key")
