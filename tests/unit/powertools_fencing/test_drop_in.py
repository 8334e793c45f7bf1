"""Whatever the original is given and asked for, this layer takes and does."""

import inspect
from typing import TYPE_CHECKING, Any

import botocore.session
import pytest
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyKeyError,
    IdempotencyPersistenceLayerError,
    IdempotencyValidationError,
)

from powertools_fencing import ClaimLost, FencedDynamoDBPersistenceLayer
from tests.unit.powertools_fencing.table import (
    ENOUGH,
    LONG_OVER,
    TABLE,
    LambdaContext,
    Ongoing,
    Process,
    fenced,
    original,
    records,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NAMES = {
    "expiry_attr": "expiresAt",
    "in_progress_expiry_attr": "leaseUntil",
    "status_attr": "state",
    "data_attr": "result",
    "validation_key_attr": "fingerprint",
}
COMPOSITE = {"table_name": "composite", "key_attr": "pk", "sort_key_attr": "sk", "static_pk_value": "orders"}
VALIDATED = {"payload_validation_jmespath": "amount"}


@pytest.fixture(params=["plain", "composite", "names"])
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {
        "plain": {"table_name": TABLE},
        "composite": COMPOSITE,
        "names": {"table_name": TABLE, "owner_attr": "heldBy", **NAMES},
    }[request.param]


@pytest.fixture(params=[False, True], ids=["", "local cache"])
def config(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"use_local_cache": request.param}


def _layer(client: "DynamoDBClient", options: dict[str, Any]) -> FencedDynamoDBPersistenceLayer:
    return FencedDynamoDBPersistenceLayer(boto3_client=client, **options)


def test_the_originals_arguments_are_taken_in_its_order(dynamodb: "DynamoDBClient") -> None:
    arguments = [
        name
        for name in inspect.signature(DynamoDBPersistenceLayer).parameters
        if not name.startswith("boto") and name != "table_name"
    ]
    layer = FencedDynamoDBPersistenceLayer(TABLE, *arguments, boto3_client=dynamodb)
    assert [getattr(layer, name) for name in arguments] == arguments


def test_it_is_the_originals_kind() -> None:
    assert issubclass(FencedDynamoDBPersistenceLayer, DynamoDBPersistenceLayer)


def test_claims_duplicates_and_results(
    options: dict[str, Any], config: dict[str, Any], dynamodb: "DynamoDBClient"
) -> None:
    first, second = (Process(_layer(dynamodb, options), options=config) for _ in range(2))
    ongoing = Ongoing(first)
    for process in (first, second):
        with pytest.raises(IdempotencyAlreadyInProgressError):
            process.charge()
    ongoing.end({"paid": True})
    for process in (first, second, second):
        assert process.charge() == {"paid": True}
    assert (first.runs, second.runs) == (1, 0)


def test_failures_give_the_claim_back(
    options: dict[str, Any], config: dict[str, Any], dynamodb: "DynamoDBClient"
) -> None:
    process = Process(_layer(dynamodb, options), options=config)
    with pytest.raises(TimeoutError):
        Ongoing(process).end(TimeoutError())
    assert records(dynamodb, options["table_name"]) == []
    assert process.charge() == "charged"


@pytest.mark.parametrize("end", ["late", TimeoutError()], ids=["success", "failure"])
def test_late_calls_are_fenced_off(
    end: object, options: dict[str, Any], config: dict[str, Any], dynamodb: "DynamoDBClient"
) -> None:
    late, winner = (
        Process(_layer(dynamodb, options), LONG_OVER, config),
        Process(_layer(dynamodb, options), options=config),
    )
    ongoing = Ongoing(late)
    winner.charge(lambda: "winner's")
    with pytest.raises((IdempotencyPersistenceLayerError, TimeoutError)):
        ongoing.end(end)
    assert late.charge() == winner.charge() == "winner's"


def test_another_payload_under_the_same_key_is_refused(
    options: dict[str, Any], config: dict[str, Any], dynamodb: "DynamoDBClient"
) -> None:
    process = Process(_layer(dynamodb, options), options=config | VALIDATED)
    ongoing = Ongoing(process, amount=10)
    with pytest.raises(IdempotencyAlreadyInProgressError):
        process.charge(amount=10)
    for _ in range(2):
        with pytest.raises(IdempotencyValidationError):
            process.charge(amount=20)
    ongoing.end("charged")
    for _ in range(2):
        with pytest.raises(IdempotencyValidationError):
            process.charge(amount=20)
        assert process.charge(amount=10) == "charged"
    assert process.runs == 1


@pytest.mark.parametrize("result", ["late", {1, 2}, "x" * 500_000], ids=["kept", "no JSON", "too large"])
def test_a_record_that_a_late_success_writes_anew_carries_the_payloads_hash(
    result: object, dynamodb: "DynamoDBClient"
) -> None:
    late, taker = (Process(fenced(dynamodb), LONG_OVER, VALIDATED) for _ in range(2))
    ongoing, taken = Ongoing(late, amount=10), Ongoing(taker, amount=10)
    claimed = records(dynamodb)[0]["validation"]
    with pytest.raises(TimeoutError):
        taken.end(TimeoutError())
    assert ongoing.end(result) == result
    assert [record["validation"] for record in records(dynamodb)] == [claimed]
    with pytest.raises(IdempotencyValidationError):
        taker.charge(amount=20)


def test_the_attributes_are_the_originals_and_the_owner(dynamodb: "DynamoDBClient") -> None:
    for name, layer in (("O-1", original(dynamodb)), ("O-2", fenced(dynamodb))):
        Process(layer, options=VALIDATED).charge(orderId=name, amount=10)
    theirs, ours = sorted(records(dynamodb), key=len)
    assert ours.keys() - theirs.keys() == {"owner"}
    assert not theirs.keys() - ours.keys()


def test_records_of_the_original_are_replayed(dynamodb: "DynamoDBClient") -> None:
    Process(original(dynamodb)).charge()
    process = Process(fenced(dynamodb))
    assert process.charge() == "charged"
    assert process.runs == 0


def test_the_original_replays_ours(dynamodb: "DynamoDBClient") -> None:
    Process(fenced(dynamodb)).charge()
    process = Process(original(dynamodb))
    assert process.charge() == "charged"
    assert process.runs == 0


def test_a_payload_without_a_key_is_refused_or_not_guarded_as_configured(dynamodb: "DynamoDBClient") -> None:
    strict = Process(fenced(dynamodb), options={"raise_on_no_idempotency_key": True})
    with pytest.raises(IdempotencyKeyError):
        strict.charge(orderId=None)
    lax = Process(fenced(dynamodb))
    for result in ("charged", {1, 2}):
        with pytest.warns(UserWarning, match="No idempotency key value found"):
            assert lax.charge(lambda: result, orderId=None) == result  # noqa: B023 - called at once
    with pytest.warns(UserWarning, match="No idempotency key value found"), pytest.raises(TimeoutError):
        Ongoing(lax, orderId=None).end(TimeoutError())
    assert (strict.runs, lax.runs) == (0, 3)
    assert records(dynamodb) == []


def test_it_guards_a_handler(dynamodb: "DynamoDBClient") -> None:
    runs: list[object] = []

    @idempotent(persistence_store=fenced(dynamodb), config=IdempotencyConfig(event_key_jmespath="orderId"))
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        runs.append(event)
        return {"paid": event["orderId"]}

    context: Any = LambdaContext(ENOUGH)
    for _ in range(2):
        assert handler({"orderId": "O-1"}, context) == {"paid": "O-1"}
    assert len(runs) == 1


def test_a_response_hook_gets_the_replayed_result(dynamodb: "DynamoDBClient") -> None:
    process = Process(
        fenced(dynamodb), options={"response_hook": lambda result, record: [result, record.status]}
    )
    assert process.charge() == "charged"
    assert process.charge() == ["charged", "COMPLETED"]


def test_a_client_made_by_botocore_alone_will_do(dynamodb: "DynamoDBClient") -> None:
    """As functions have that do not want to pay for boto3's import."""
    client: Any = botocore.session.get_session().create_client("dynamodb")
    assert Process(fenced(client)).charge() == "charged"
    assert records(dynamodb)[0]["status"] == "COMPLETED"


def test_a_new_call_costs_two_writes_and_a_duplicate_one(
    dynamodb: "DynamoDBClient", calls: list[str]
) -> None:
    process = Process(fenced(dynamodb))
    process.charge()
    assert calls == ["PutItem", "UpdateItem"]
    calls.clear()
    process.charge()
    assert calls == ["PutItem"]


def test_a_duplicate_of_what_the_local_cache_holds_costs_nothing(
    dynamodb: "DynamoDBClient", calls: list[str]
) -> None:
    here, elsewhere = (Process(fenced(dynamodb), options={"use_local_cache": True}) for _ in range(2))
    here.charge()
    elsewhere.charge()
    calls.clear()
    assert here.charge() == elsewhere.charge() == "charged"
    assert calls == []


@pytest.mark.parametrize("write", ["completion", "deletion"])
def test_a_call_that_made_no_claim_ends_nobodys_record(write: str, dynamodb: "DynamoDBClient") -> None:
    """Powertools' replay of a durable execution runs a function under what an earlier invocation claimed."""
    lost: list[ClaimLost] = []
    layer = fenced(dynamodb, on_claim_lost=lost.append)
    ongoing = Ongoing(Process(layer))
    at_rest = records(dynamodb)
    layer.function_name = "charge"
    order = {"orderId": "O-1"}
    if write == "completion":
        with pytest.raises(ClaimLost, match="no claim was made by this call"):
            layer.save_success(order, "charged")
    else:
        layer.delete_record(order, TimeoutError())
    assert records(dynamodb) == at_rest
    assert [each.write for each in lost] == [write]
    ongoing.end("charged")
