"""A call whose lease was taken over ends late: what that does to the winner's record.

Each situation with Powertools' own layer first.
"""

from typing import TYPE_CHECKING

import pytest
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyPersistenceLayerError

from powertools_fencing import ClaimLost
from tests.unit.powertools_fencing.table import LONG_OVER, Ongoing, Process, fenced, original, records

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Declined(Exception):  # noqa: N818 - a name as Step Functions would match it
    pass


def test_the_originals_late_failure_erases_the_winners_record(dynamodb: "DynamoDBClient") -> None:
    late, winner = Process(original(dynamodb), LONG_OVER), Process(original(dynamodb))
    ongoing = Ongoing(late)
    winner.charge()
    with pytest.raises(Declined):
        ongoing.end(Declined())
    assert records(dynamodb) == []
    winner.charge()
    assert winner.runs == 2


def test_a_late_failure_leaves_the_winners_record_and_stays_the_failure_that_it_is(
    dynamodb: "DynamoDBClient",
) -> None:
    lost: list[ClaimLost] = []
    late, winner = (
        Process(fenced(dynamodb, on_claim_lost=lost.append), LONG_OVER),
        Process(fenced(dynamodb)),
    )
    ongoing = Ongoing(late)
    winner.charge()
    at_rest = records(dynamodb)
    with pytest.raises(Declined):
        ongoing.end(Declined())
    assert records(dynamodb) == at_rest
    assert late.charge() == winner.charge() == "charged"
    assert (late.runs, winner.runs) == (1, 1)
    assert [(each.write, each.record and each.record.status) for each in lost] == [("deletion", "COMPLETED")]


def test_the_originals_late_success_replaces_the_winners_result(dynamodb: "DynamoDBClient") -> None:
    late, winner = Process(original(dynamodb), LONG_OVER), Process(original(dynamodb))
    ongoing = Ongoing(late)
    assert winner.charge(lambda: "winner's") == "winner's"
    assert ongoing.end("late") == "late"
    assert winner.charge() == "late"


def test_a_late_success_leaves_the_winners_result_and_is_told_that_it_was_late(
    dynamodb: "DynamoDBClient",
) -> None:
    lost: list[ClaimLost] = []
    late, winner = (
        Process(fenced(dynamodb, on_claim_lost=lost.append), LONG_OVER),
        Process(fenced(dynamodb)),
    )
    ongoing = Ongoing(late)
    winner.charge(lambda: "winner's")
    at_rest = records(dynamodb)
    with pytest.raises(IdempotencyPersistenceLayerError, match=r"completion of charge#.* refused") as told:
        ongoing.end("late")
    assert told.value.__cause__ is lost[0]
    assert (lost[0].write, lost[0].record and lost[0].record.status) == ("completion", "COMPLETED")
    assert records(dynamodb) == at_rest
    assert late.charge() == winner.charge() == "winner's"
    assert (late.runs, winner.runs) == (1, 1)


def test_the_originals_late_success_completes_what_another_call_is_working_on(
    dynamodb: "DynamoDBClient",
) -> None:
    late, winner = Process(original(dynamodb), LONG_OVER), Process(original(dynamodb))
    ongoing, working = Ongoing(late), Ongoing(winner)
    ongoing.end("late")
    assert records(dynamodb)[0]["status"] == "COMPLETED"
    with pytest.raises(Declined):
        working.end(Declined())
    assert records(dynamodb) == []


@pytest.mark.parametrize("end", ["late", Declined()], ids=["success", "failure"])
def test_a_late_end_leaves_the_claim_of_the_call_at_work_alone(
    end: object, dynamodb: "DynamoDBClient"
) -> None:
    late, winner = Process(fenced(dynamodb), LONG_OVER), Process(fenced(dynamodb))
    ongoing, working = Ongoing(late), Ongoing(winner)
    at_rest = records(dynamodb)
    with pytest.raises((IdempotencyPersistenceLayerError, Declined)):
        ongoing.end(end)
    assert records(dynamodb) == at_rest
    assert at_rest[0]["status"] == "INPROGRESS"
    assert working.end("winner's") == "winner's"
    assert late.charge() == "winner's"


def test_a_late_success_is_recorded_where_whoever_took_over_gave_the_claim_back(
    dynamodb: "DynamoDBClient",
) -> None:
    """Its effect has happened and nobody holds the record: the next call must not do it again."""
    late, other = Process(fenced(dynamodb), LONG_OVER), Process(fenced(dynamodb))
    ongoing, taker = Ongoing(late), Ongoing(other)
    with pytest.raises(Declined):
        taker.end(Declined())
    assert records(dynamodb) == []
    assert ongoing.end("late") == "late"
    assert other.charge() == "late"
    assert (late.runs, other.runs) == (1, 1)


def test_a_call_that_is_late_without_having_been_taken_over_ends_as_usual(
    dynamodb: "DynamoDBClient",
) -> None:
    late = Process(fenced(dynamodb), LONG_OVER)
    with pytest.raises(Declined):
        Ongoing(late).end(Declined())
    assert records(dynamodb) == []
    assert Ongoing(late).end("late") == "late"
    assert records(dynamodb)[0]["data"] == '"late"'


def test_a_late_call_does_not_put_its_result_into_the_local_cache(dynamodb: "DynamoDBClient") -> None:
    cached = {"use_local_cache": True}
    late, winner = Process(fenced(dynamodb), LONG_OVER, cached), Process(fenced(dynamodb))
    ongoing = Ongoing(late)
    winner.charge(lambda: "winner's")
    with pytest.raises(IdempotencyPersistenceLayerError):
        ongoing.end("late")
    assert late.charge() == "winner's"
