"""Done stays done, whatever the result is made of."""

import datetime
import logging
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyPersistenceLayerError
from botocore.stub import Stubber

from powertools_fencing import FencedDynamoDBPersistenceLayer, ResultNotKept
from tests.unit.powertools_fencing.table import LONG_OVER, Ongoing, Process, fenced, original, records

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def _circular() -> list[Any]:
    result: list[Any] = []
    result.append(result)
    return result


TOO_LARGE = "x" * 500_000
NOT_KEPT = {
    "too large": TOO_LARGE,
    "set": {1, 2},
    "bytes": b"...",
    "datetime": datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC),
    "uuid": UUID(int=1),
    "instance": object(),
    "circular": _circular(),
    "keys that do not sort": {1: "one", "two": 2},
}
each_not_kept = pytest.mark.parametrize("result", NOT_KEPT.values(), ids=NOT_KEPT)


@each_not_kept
def test_the_original_runs_again_what_had_a_result_that_it_could_not_keep(
    result: object, dynamodb: "DynamoDBClient"
) -> None:
    process = Process(original(dynamodb), LONG_OVER)
    for _ in range(2):
        with pytest.raises(IdempotencyPersistenceLayerError):
            process.charge(lambda: result)
    assert process.runs == 2


@pytest.mark.parametrize("cached", [False, True], ids=["", "local cache"])
@each_not_kept
def test_a_result_that_can_not_be_kept_leaves_the_call_done(
    result: object, cached: bool, dynamodb: "DynamoDBClient", caplog: pytest.LogCaptureFixture
) -> None:
    process = Process(fenced(dynamodb), options={"use_local_cache": cached})
    elsewhere = Process(fenced(dynamodb))
    with caplog.at_level(logging.WARNING, "powertools_fencing"):
        assert process.charge(lambda: result) is result
    assert [record["status"] for record in records(dynamodb)] == ["COMPLETED"]
    assert len(caplog.records) == 1
    with pytest.raises(ResultNotKept, match="is completed, without its result"):
        elsewhere.charge()
    if cached and result is TOO_LARGE:
        assert process.charge() == result
    else:
        with pytest.raises(ResultNotKept):
            process.charge()
    assert (process.runs, elsewhere.runs) == (1, 0)


@each_not_kept
def test_the_warning_and_the_error_hold_nothing_of_the_result(
    result: object, dynamodb: "DynamoDBClient", caplog: pytest.LogCaptureFixture
) -> None:
    process = Process(fenced(dynamodb))
    with caplog.at_level(logging.WARNING):
        process.charge(lambda: result)
    with pytest.raises(ResultNotKept) as error:
        process.charge()
    for text in (str(error.value), *(record.getMessage() for record in caplog.records)):
        assert len(text) < 200
        assert not re.search("2026|xxx|1, 2|two|00000", text)


@each_not_kept
def test_a_late_call_writes_no_note_over_the_winners_result(
    result: object, dynamodb: "DynamoDBClient"
) -> None:
    ongoing, winner = Ongoing(Process(fenced(dynamodb), LONG_OVER)), Process(fenced(dynamodb))
    winner.charge(lambda: "winner's")
    with pytest.raises(IdempotencyPersistenceLayerError, match="refused"):
        ongoing.end(result)
    assert winner.charge() == "winner's"


def test_a_completion_that_the_store_refuses_for_another_reason_is_an_error(
    dynamodb: "DynamoDBClient",
) -> None:
    process = Process(fenced(dynamodb))
    with Stubber(dynamodb) as stubbed:
        stubbed.add_response("put_item", {})
        stubbed.add_client_error("update_item", "ValidationException")
        stubbed.add_client_error("update_item", "ValidationException")
        with pytest.raises(IdempotencyPersistenceLayerError, match="ValidationException"):
            process.charge()
        stubbed.assert_no_pending_responses()


@pytest.mark.parametrize("code", ["ThrottlingException", "InternalServerError"])
def test_so_is_one_that_the_store_does_not_take(code: str, dynamodb: "DynamoDBClient") -> None:
    process = Process(fenced(dynamodb))
    with Stubber(dynamodb) as stubbed:
        stubbed.add_response("put_item", {})
        stubbed.add_client_error("update_item", code)
        with pytest.raises(IdempotencyPersistenceLayerError, match=code):
            process.charge()


def test_the_error_names_the_key_of_a_composite_key_too(dynamodb: "DynamoDBClient") -> None:
    layer = FencedDynamoDBPersistenceLayer(
        "composite", key_attr="pk", sort_key_attr="sk", static_pk_value="orders", boto3_client=dynamodb
    )
    process = Process(layer)
    process.charge(lambda: {1, 2})
    with pytest.raises(ResultNotKept) as error:
        process.charge()
    assert error.value.idempotency_key == records(dynamodb, "composite")[0]["sk"]


def test_nothing_is_a_result(dynamodb: "DynamoDBClient") -> None:
    process = Process(fenced(dynamodb))
    assert process.charge(lambda: None) is None
    assert process.charge(lambda: "again") is None
    assert process.runs == 1


@pytest.mark.parametrize(
    ("result", "replayed"),
    [
        ({"amount": Decimal("10.50")}, {"amount": "10.50"}),
        ({"a": [1, 2.5, None, True, "é"]}, {"a": [1, 2.5, None, True, "é"]}),
        ("x" * 300_000, "x" * 300_000),
    ],
    ids=["decimal", "nested", "large"],
)
def test_what_the_original_can_keep_is_replayed_as_the_original_does(
    result: object, replayed: object, dynamodb: "DynamoDBClient"
) -> None:
    for number, layer in enumerate((original(dynamodb), fenced(dynamodb))):
        process = Process(layer)
        process.charge(lambda: result, orderId=f"O-{number}")
        assert process.charge(orderId=f"O-{number}") == replayed
