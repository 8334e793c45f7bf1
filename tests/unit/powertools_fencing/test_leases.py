"""How long a claim keeps others out, and what becomes of one that nobody ends."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyPersistenceLayerError,
)
from botocore.stub import Stubber

from tests.unit.powertools_fencing.table import (
    ENOUGH,
    LONG_OVER,
    Ongoing,
    Process,
    fenced,
    original,
    records,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def _lease(dynamodb: "DynamoDBClient") -> float:
    """Seconds from now, of the one record there is."""
    return int(records(dynamodb)[0]["in_progress_expiration"]) / 1000 - time.time()


def test_a_taken_over_claim_is_another_calls(dynamodb: "DynamoDBClient") -> None:
    process = Process(fenced(dynamodb), LONG_OVER)
    process.abandon()
    orphan = records(dynamodb)[0]
    ongoing = Ongoing(Process(fenced(dynamodb)))
    taken = records(dynamodb)[0]
    assert taken["owner"] != orphan["owner"]
    assert taken["in_progress_expiration"] > orphan["in_progress_expiration"]
    ongoing.end("charged")


def test_each_call_has_a_token_of_its_own_even_in_one_process(dynamodb: "DynamoDBClient") -> None:
    process = Process(fenced(dynamodb), LONG_OVER)
    owners = set()
    for _ in range(3):
        process.abandon()
        owners.add(records(dynamodb)[0]["owner"])
    assert len(owners) == 3


def test_nobody_takes_over_what_is_expired_by_less_than_the_margin(dynamodb: "DynamoDBClient") -> None:
    """The clocks of two processes differ, and Lambda lets a function run on for a moment."""
    ongoing = Ongoing(Process(fenced(dynamodb, margin_seconds=30), -20_000))
    with pytest.raises(IdempotencyAlreadyInProgressError):
        Process(fenced(dynamodb)).charge()
    assert ongoing.end("charged") == "charged"


@pytest.mark.parametrize(("margin", "expected"), [(0, 0), (1, 1), (30, 30)])
def test_a_call_with_no_time_left_has_a_lease_of_the_margin_alone(
    margin: int, expected: int, dynamodb: "DynamoDBClient"
) -> None:
    Process(fenced(dynamodb, margin_seconds=margin), 0).abandon()
    assert _lease(dynamodb) == pytest.approx(expected, abs=0.9)


def test_the_margin_is_a_second_unless_it_is_said(dynamodb: "DynamoDBClient") -> None:
    Process(fenced(dynamodb), ENOUGH).abandon()
    assert _lease(dynamodb) == pytest.approx(ENOUGH / 1000 + 1, abs=0.9)


@pytest.mark.filterwarnings("ignore:Couldn't determine the remaining time")
def test_the_original_locks_a_call_of_unknown_time_until_its_record_expires(
    dynamodb: "DynamoDBClient",
) -> None:
    Process(original(dynamodb), None).abandon()
    assert "in_progress_expiration" not in records(dynamodb)[0]


def test_a_call_of_unknown_time_has_a_bounded_lease_and_is_warned(dynamodb: "DynamoDBClient") -> None:
    process = Process(fenced(dynamodb), None)
    with pytest.warns(UserWarning, match=r"remaining time left: claiming for 900 s"):
        process.abandon()
    assert _lease(dynamodb) == pytest.approx(901, abs=0.9)
    with pytest.raises(IdempotencyAlreadyInProgressError):
        Process(fenced(dynamodb)).charge()


@pytest.mark.filterwarnings("ignore:Couldn't determine the remaining time")
def test_the_lease_of_a_call_of_unknown_time_can_be_chosen(dynamodb: "DynamoDBClient") -> None:
    Process(fenced(dynamodb, longest_call_seconds=5), None).abandon()
    assert _lease(dynamodb) == pytest.approx(6, abs=0.9)


@pytest.mark.filterwarnings("ignore:Couldn't determine the remaining time")
def test_the_originals_claim_without_a_lease_is_no_orphan(dynamodb: "DynamoDBClient") -> None:
    """As it may stand in the table while a deployment goes from one layer to the other."""
    Process(original(dynamodb), None).abandon()
    with pytest.raises(IdempotencyAlreadyInProgressError):
        Process(fenced(dynamodb)).charge()


def test_an_expired_record_is_claimed_although_it_is_still_there(dynamodb: "DynamoDBClient") -> None:
    """DynamoDB deletes hours late."""
    first, second = (
        Process(fenced(dynamodb), options={"expires_after_seconds": -60}),
        Process(fenced(dynamodb)),
    )
    first.charge(lambda: "first")
    assert second.charge(lambda: "second") == "second"
    assert [record["data"] for record in records(dynamodb)] == ['"second"']


@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException", "InternalServerError"])
def test_a_store_that_does_not_answer_lets_nobody_in(code: str, dynamodb: "DynamoDBClient") -> None:
    process = Process(fenced(dynamodb))
    with Stubber(dynamodb) as stubbed:
        stubbed.add_client_error("put_item", code)
        with pytest.raises(IdempotencyPersistenceLayerError, match=code):
            process.charge()
    assert process.runs == 0


@pytest.fixture
def refuse_a_claim(hook: Callable[[str, Callable[..., Any]], None]) -> list[object]:
    """The next one is refused, and the refusal does not bring the record along; adds the refused claim."""
    refused: list[object] = []

    def refuse_once(params: object, **_: object) -> tuple[object, dict[str, object]] | None:
        if refused:
            return None
        refused.append(params)
        error = {"Code": "ConditionalCheckFailedException", "Message": ""}
        return SimpleNamespace(status_code=400), {"Error": error, "ResponseMetadata": {}}

    hook("before-call.dynamodb.PutItem", refuse_once)
    return refused


def test_a_record_that_vanishes_between_refusal_and_reading_is_claimed_again(
    refuse_a_claim: list[object], dynamodb: "DynamoDBClient"
) -> None:
    process = Process(fenced(dynamodb))
    assert process.charge() == "charged"
    assert len(refuse_a_claim) == 1
    assert process.runs == 1


def test_a_refusal_without_the_record_is_a_refusal(
    dynamodb: "DynamoDBClient", request: pytest.FixtureRequest
) -> None:
    ongoing, duplicate = Ongoing(Process(fenced(dynamodb))), Process(fenced(dynamodb))
    refused = request.getfixturevalue("refuse_a_claim")
    with pytest.raises(IdempotencyAlreadyInProgressError):
        duplicate.charge()
    assert len(refused) == 1
    assert duplicate.runs == 0
    ongoing.end("charged")
