"""A write whose answer is lost is sent again by the SDK and meets its own first self."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyAlreadyInProgressError

from tests.unit.powertools_fencing.table import LONG_OVER, Ongoing, Process, fenced, original, records

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LoseAnswers = Callable[[str], None]
Hook = Callable[[str, Callable[..., Any]], None]


def test_the_original_takes_its_own_claim_for_another_calls(
    dynamodb: "DynamoDBClient", lose_answers: LoseAnswers
) -> None:
    """Nobody is at work, and every call is turned away until the lease is over."""
    lose_answers("PutItem")
    process = Process(original(dynamodb))
    with pytest.raises(IdempotencyAlreadyInProgressError):
        process.charge()
    assert process.runs == 0
    assert records(dynamodb)[0]["status"] == "INPROGRESS"


@pytest.mark.parametrize("before", ["absent", "abandoned"])
def test_a_claim_whose_answer_was_lost_is_held(
    before: str, dynamodb: "DynamoDBClient", lose_answers: LoseAnswers, calls: list[str]
) -> None:
    if before == "abandoned":
        Process(fenced(dynamodb), LONG_OVER).abandon()
    calls.clear()
    lose_answers("PutItem")
    process = Process(fenced(dynamodb))
    assert process.charge() == "charged"
    assert calls == ["PutItem", "PutItem", "UpdateItem"]
    assert records(dynamodb)[0]["status"] == "COMPLETED"


def test_a_duplicate_whose_answer_was_lost_is_still_a_duplicate(
    dynamodb: "DynamoDBClient", lose_answers: LoseAnswers
) -> None:
    ongoing = Ongoing(Process(fenced(dynamodb)))
    lose_answers("PutItem")
    duplicate = Process(fenced(dynamodb))
    with pytest.raises(IdempotencyAlreadyInProgressError):
        duplicate.charge()
    ongoing.end("charged")
    assert duplicate.charge() == "charged"
    assert duplicate.runs == 0


def test_a_completion_whose_answer_was_lost_has_succeeded(
    dynamodb: "DynamoDBClient", lose_answers: LoseAnswers, calls: list[str]
) -> None:
    lose_answers("UpdateItem")
    process = Process(fenced(dynamodb))
    assert process.charge() == process.charge() == "charged"
    assert calls == ["PutItem", "UpdateItem", "UpdateItem", "PutItem"]
    assert process.runs == 1


def test_a_deletion_whose_answer_was_lost_finds_nothing_and_has_succeeded(
    dynamodb: "DynamoDBClient", lose_answers: LoseAnswers, calls: list[str]
) -> None:
    lost: list[object] = []
    lose_answers("DeleteItem")
    with pytest.raises(TimeoutError):
        Ongoing(Process(fenced(dynamodb, on_claim_lost=lost.append))).end(TimeoutError())
    assert calls == ["PutItem", "DeleteItem", "DeleteItem"]
    assert records(dynamodb) == []
    assert lost == []


def test_a_lost_answer_to_a_late_deletion_does_not_reach_the_claim_made_in_between(
    dynamodb: "DynamoDBClient", hook: Hook
) -> None:
    """The first try deletes; before the second arrives, another call claims."""
    working: list[Ongoing] = []

    def claim_and_repeat(attempts: int, **_: object) -> int | None:
        if attempts > 1:
            return None
        working.append(Ongoing(Process(fenced(dynamodb))))
        return 0

    hook("needs-retry.dynamodb.DeleteItem", claim_and_repeat)
    with pytest.raises(TimeoutError):
        Ongoing(Process(fenced(dynamodb))).end(TimeoutError())
    assert records(dynamodb)[0]["status"] == "INPROGRESS"
    assert working[0].end("charged") == "charged"
