"""Orders: looked at; what is done about them, their clients and Step Functions do."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from orders.records import Orders, Request
from tests.ops.conftest import Once
from tests.ops.deployed import Deployed, now

Told = Callable[..., Any]
REQUEST = Request(caller="iam:AIDA", key="key-12345")
NAME = REQUEST.execution_name("order-1")


@pytest.fixture
def stopped(deployed: Deployed) -> Orders:
    """An order whose execution was stopped."""
    outputs = deployed.add_orders()
    orders = Orders(deployed.client("dynamodb"), outputs["OrdersTableName"], retention=1_000)
    orders.accept(REQUEST, order_id="order-1", body_hash="hash", location="/v1/orders/key-12345", now=now())
    started = deployed.client("stepfunctions").start_execution(
        stateMachineArn=outputs["StateMachineArn"],
        name=NAME,
        input=json.dumps({"requestId": REQUEST.id, "orderId": "order-1"}),
    )
    deployed.client("stepfunctions").stop_execution(executionArn=started["executionArn"])
    orders.fail(REQUEST.id, "order-1", now=now(), reason="it was stopped", tasks='{"charge": "done"}')
    return orders


def test_an_execution_that_broke_off_is_stuck(stopped: Orders, told: Told) -> None:
    (row,) = told("stuck", "--workload", "orders")
    assert (row["key"], row["state"]) == (NAME, "ABORTED")
    assert "redrive-execution" in row["in_words"]
    (status,) = told("status", "--workload", "orders")
    assert status["executions"]["ABORTED"] == 1


@pytest.mark.parametrize("words", [(NAME,), ("order-1", "--scan"), ("key-12345", "--scan")])
def test_an_order_is_shown_by_its_execution_or_by_what_its_client_knows(
    stopped: Orders, told: Told, once: Once, words: tuple[str, ...]
) -> None:
    (story,) = told("show", *words)
    assert (story["key"], story["state"], story["caller"]) == ("order-1", "FAILED", "iam:AIDA")
    assert story["execution"]["arn"].endswith(NAME)
    assert '{"charge": "done"}' in once("show", *words).stdout


def test_whose_key_it_is_takes_a_scan(stopped: Orders, once: Once) -> None:
    result = once("show", "key-12345")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "with --scan" in result.stderr


def test_an_order_has_nothing_to_release_or_to_redrive(stopped: Orders, once: Once) -> None:
    for words in (("release", "order-1", "--reason", "x"), ("dlq", "redrive", "--all")):
        result = once(*words, "--yes", "--workload", "orders")
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
