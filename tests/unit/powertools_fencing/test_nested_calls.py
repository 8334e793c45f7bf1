"""A guarded call inside a guarded call, on one layer: each ends the record that it began."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyPersistenceLayerError,
)

from powertools_fencing import FencedDynamoDBPersistenceLayer
from tests.unit.powertools_fencing.table import (
    ENOUGH,
    LONG_OVER,
    LambdaContext,
    Process,
    fenced,
    original,
    records,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

EVENT = {"orderId": "O-1"}
CONTEXT: Any = LambdaContext(ENOUGH)


def _statuses(dynamodb: "DynamoDBClient") -> dict[str, str]:
    return {record["id"].partition("#")[0]: record["status"] for record in records(dynamodb)}


def _handler(layer: DynamoDBPersistenceLayer, effect: Callable[[], object]) -> Callable[..., Any]:
    """A guarded handler around a guarded function."""
    config = IdempotencyConfig(lambda_context=CONTEXT)

    def inner(*, order: dict[str, Any]) -> object:
        return effect()

    guarded: Callable[..., Any] = idempotent_function(
        inner, data_keyword_argument="order", persistence_store=layer, config=config, key_prefix="inner"
    )

    @idempotent(persistence_store=layer, config=config, key_prefix="outer")
    def outer(event: dict[str, Any], context: Any) -> object:
        return {"inner": guarded(order=event)}

    return outer


def test_the_original_ends_the_outer_call_under_the_inner_ones_key(dynamodb: "DynamoDBClient") -> None:
    """The same bug as powertools-lambda-typescript#5707."""
    handler = _handler(original(dynamodb), lambda: "charged")
    handler(EVENT, CONTEXT)
    assert _statuses(dynamodb) == {"outer": "INPROGRESS", "inner": "COMPLETED"}
    with pytest.raises(IdempotencyAlreadyInProgressError):
        handler(EVENT, CONTEXT)


def test_both_calls_are_completed_with_their_own_results(dynamodb: "DynamoDBClient") -> None:
    effects = iter(["charged"])
    handler = _handler(fenced(dynamodb), lambda: next(effects))
    assert handler(EVENT, CONTEXT) == handler(EVENT, CONTEXT) == {"inner": "charged"}
    assert _statuses(dynamodb) == {"outer": "COMPLETED", "inner": "COMPLETED"}
    assert sorted(record["data"] for record in records(dynamodb)) == ['"charged"', '{"inner": "charged"}']


def test_a_failure_inside_gives_both_claims_back(dynamodb: "DynamoDBClient") -> None:
    def effect() -> object:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        _handler(fenced(dynamodb), effect)(EVENT, CONTEXT)
    assert records(dynamodb) == []


def test_the_outer_call_survives_a_duplicate_inside(dynamodb: "DynamoDBClient") -> None:
    """The inner call ends without a write of its own."""
    handler = _handler(fenced(dynamodb), lambda: "charged")
    handler(EVENT, CONTEXT)
    outer = next(record for record in records(dynamodb) if record["id"].startswith("outer"))
    dynamodb.delete_item(TableName="idempotency", Key={"id": {"S": outer["id"]}})
    assert handler(EVENT, CONTEXT) == {"inner": "charged"}
    assert _statuses(dynamodb) == {"outer": "COMPLETED", "inner": "COMPLETED"}


@pytest.mark.parametrize("dies", [False, True], ids=["ends", "dies"])
def test_a_call_that_takes_over_the_one_around_it_fences_it_off(
    dies: bool, dynamodb: "DynamoDBClient"
) -> None:
    process = Process(fenced(dynamodb), LONG_OVER)

    def overtaken() -> object:
        with suppress(SystemExit):
            process.charge(lambda: "inner") if not dies else process.abandon()
        return "outer"

    with pytest.raises(IdempotencyPersistenceLayerError, match="refused"):
        process.charge(overtaken)
    assert [record.get("data") for record in records(dynamodb)] == [None if dies else '"inner"']


def test_calls_of_several_payloads_may_be_nested(dynamodb: "DynamoDBClient") -> None:
    process = Process(fenced(dynamodb))

    def nested(depth: int) -> object:
        return [process.charge(lambda: nested(depth - 1), orderId=f"O-{depth}")] if depth else "core"

    assert nested(12) == nested(12)
    assert process.runs == 12
    assert {record["status"] for record in records(dynamodb)} == {"COMPLETED"}


def test_layers_of_several_tables_may_be_nested(dynamodb: "DynamoDBClient") -> None:
    composite = FencedDynamoDBPersistenceLayer(
        "composite", key_attr="pk", sort_key_attr="sk", boto3_client=dynamodb
    )
    outer, inner = Process(fenced(dynamodb)), Process(composite)
    outer.charge(inner.charge)
    assert [
        each["status"] for table in ("idempotency", "composite") for each in records(dynamodb, table)
    ] == [
        "COMPLETED",
        "COMPLETED",
    ]
