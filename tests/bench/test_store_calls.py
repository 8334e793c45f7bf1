"""The row of calls to the store: it counts what went over the wire; a read or a call more shows."""

import os
from typing import Any

import boto3
import pytest
from rich.console import Console

import wiring
from bench.in_process import shipped
from bench.in_process.wire import Exchange, Traffic, Wire
from bench.rows import store_calls
from bench.rows.store_calls import CHARGES, INGESTION, POWERTOOLS, Seen
from sandbox.demo.progress import Progress


def traffic(*operations: str) -> Traffic:
    return Traffic([Exchange(operation=each, up=100, down=50) for each in operations])


def seen(new: Traffic, duplicate: Traffic) -> Seen:
    return Seen(new=[new], duplicate=[duplicate])


TWO_AND_ONE = seen(traffic("UpdateItem", "UpdateItem"), traffic("UpdateItem"))


def test_the_shipped_functions_write_twice_for_a_new_event_once_for_a_duplicate_and_never_read() -> None:
    row = store_calls.measure(Progress(Console(quiet=True)), quick=True)
    assert [goal.measured for goal in row.goals] == ["2 / 1", "2 / 1", "0"]
    assert all(goal.met for goal in row.goals)
    assert {line[0]: line[1:3] for line in row.lines}[POWERTOOLS] == ("2 / 1", "0")


def test_a_read_misses_the_goal_though_the_number_of_calls_is_right() -> None:
    reading = seen(traffic("UpdateItem", "GetItem"), traffic("UpdateItem"))
    row = store_calls.row({INGESTION: TWO_AND_ONE, CHARGES: reading, POWERTOOLS: TWO_AND_ONE})
    assert [(goal.measured, goal.met) for goal in row.goals] == [
        ("2 / 1", True),
        ("2 / 1", True),
        ("1", False),
    ]


def test_one_event_that_needs_a_call_more_misses_the_goal() -> None:
    usual, retried = traffic("UpdateItem", "UpdateItem"), traffic("UpdateItem", "UpdateItem", "UpdateItem")
    uneven = Seen(new=[usual, retried], duplicate=[traffic("UpdateItem")] * 2)
    row = store_calls.row({INGESTION: uneven, CHARGES: TWO_AND_ONE, POWERTOOLS: TWO_AND_ONE})
    assert (row.goals[0].measured, row.goals[0].met) == ("2-3 / 1", False)


def test_every_request_is_counted_once_with_all_its_bytes() -> None:
    with Wire() as wire, shipped.ingestion(wire.url):
        shipped.create_resources(wire)
        prepared: list[int] = []

        def weigh(request: Any, **_: Any) -> None:
            head = sum(len(name) + len(value) + 4 for name, value in request.headers.items())
            prepared.append(head + len(request.body))

        client = boto3.client("dynamodb")
        client.meta.events.register("before-send", weigh)
        for size in (10, 1_010):
            client.put_item(
                TableName=shipped.POWERTOOLS_TABLE, Item={"id": {"S": "K"}, "data": {"S": "x" * size}}
            )
        counted = wire.take().exchanges
        assert [each.operation for each in counted] == ["PutItem", "PutItem"]
        host = wire.url.removeprefix("http://")
        added = len(f"POST / HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: identity\r\n\r\n")
        assert [each.up for each in counted] == [size + added for size in prepared]
        assert wire.take().exchanges == []


def test_the_functions_find_their_own_environment_and_the_users_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "somebody")
    with shipped.charges("http://127.0.0.1:1"):
        assert "AWS_PROFILE" not in os.environ
        assert wiring.text("QUEUE_URL") == "http://127.0.0.1:1/charges"
        inside = wiring.client("dynamodb")
    assert os.environ["AWS_PROFILE"] == "somebody"
    assert "QUEUE_URL" not in os.environ
    with shipped.ingestion("http://127.0.0.1:2"):
        assert wiring.client("dynamodb") is not inside
