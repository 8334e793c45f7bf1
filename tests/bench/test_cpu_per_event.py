"""The row of CPU per event: same requests, same answers, no socket; ratios of what was measured together."""

from typing import TYPE_CHECKING

import boto3
import pytest
from rich.console import Console

from bench.in_process.canned import Answer, answered, recorded
from bench.row import Sample
from bench.rows import cpu_per_event
from bench.rows.cpu_per_event import BARE, OURS, POWERTOOLS, POWERTOOLS_BY_DEFAULT
from sandbox.demo.progress import Progress

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def get(client: "DynamoDBClient", key: str) -> object:
    return client.get_item(TableName="T", Key={"id": {"S": key}}).get("Item")


def answer(value: str) -> Answer:
    return Answer(200, {}, b'{"Item": {"id": {"S": "%s"}}}' % value.encode())


def test_recorded_answers_come_in_their_order_and_then_again_without_a_socket(
    socket_disabled: None,
) -> None:
    client = boto3.client("dynamodb")
    with answered(client, [answer("first"), answer("second")]):
        assert [get(client, "K") for _ in range(3)] == [
            {"id": {"S": "first"}},
            {"id": {"S": "second"}},
            {"id": {"S": "first"}},
        ]


def test_a_recording_holds_what_was_asked_and_what_was_answered(socket_disabled: None) -> None:
    client = boto3.client("dynamodb")
    with answered(client, [answer("A")]):
        recording = recorded(client, lambda: get(client, "K"))
        get(client, "after")
    assert recording.requests == [{"TableName": "T", "Key": {"id": {"S": "K"}}}]
    assert [each.body for each in recording.answers] == [answer("A").body]


def taken(**seconds: tuple[float, ...]) -> dict[str, Sample]:
    names = {"bare": BARE, "ours": OURS, "powertools": POWERTOOLS, "by_default": POWERTOOLS_BY_DEFAULT}
    return {names[name]: Sample(each) for name, each in seconds.items()}


def test_ours_is_compared_with_each_in_the_same_rounds() -> None:
    samples = taken(bare=(1.0, 2.0), ours=(1.1, 2.2), powertools=(1.0, 4.0), by_default=(2.2, 4.4))
    goals = cpu_per_event.row(samples, events=1).goals
    assert [goal.measured for goal in goals] == ["1.10 x", "0.83 x", "0.50 x"]
    assert all(goal.met for goal in goals)


@pytest.mark.parametrize(("contender", "missed"), [("bare", 0), ("powertools", 1), ("by_default", 2)])
def test_a_goal_that_is_missed_is_said_to_be(contender: str, missed: int) -> None:
    usual = {"bare": (1.0,), "ours": (1.05,), "powertools": (2.0,), "by_default": (2.0,)}
    goals = cpu_per_event.row(taken(**{**usual, contender: (0.9,)}), events=1).goals
    assert [position for position, goal in enumerate(goals) if not goal.met] == [missed]


def test_each_contender_is_measured() -> None:
    row = cpu_per_event.measure(Progress(Console(quiet=True)), quick=True)
    assert [line[0] for line in row.lines] == [BARE, OURS, POWERTOOLS, POWERTOOLS_BY_DEFAULT]
    assert row.lines[0][2] == "1.00"
    assert len({line[1] for line in row.lines}) > 1
