"""The first and the last state of the workflow, as Lambda calls them."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import wiring
from orders import begin_order, finish_order, order_table
from orders.records import Status
from tests.unit.conftest import Lines
from tests.unit.orders.edge import RETENTION, Edge, request
from tests.unit.orders.requests import OTHER_BODY
from tests.unit.orders.tables import ORDERS, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

RESULT = {"payment": {"receipt": "r-0"}, "items": [{"receipt": "é"}, {"receipt": ""}]}


class Context:
    function_name = memory_limit_in_mb = invoked_function_arn = aws_request_id = "-"


@pytest.fixture(autouse=True)
def wired(edge: Edge, dynamodb: "DynamoDBClient", monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ORDERS_TABLE", ORDERS)
    monkeypatch.setenv("RETENTION_SECONDS", str(RETENTION))
    monkeypatch.setattr(wiring, "client", {"dynamodb": dynamodb}.__getitem__)
    monkeypatch.setattr(wiring, "clock", lambda: edge.now)
    order_table.orders.cache_clear()
    yield
    order_table.orders.cache_clear()


def _begin(order_id: str = "order-1") -> Any:
    return begin_order.handler({"requestId": request().id, "orderId": order_id}, Context())


def _finish(order_id: str = "order-1") -> Any:
    event = {"requestId": request().id, "orderId": order_id, "result": RESULT}
    return finish_order.handler(event, Context())


def test_an_order_that_begins_runs(edge: Edge) -> None:
    edge.post()
    edge.now += 100
    assert _begin() is None
    order = edge.order()
    assert (order.status, order.expires_at) == (Status.RUNNING, edge.now + RETENTION)


@pytest.mark.parametrize("status", list(Status))
def test_one_that_has_begun_before_goes_on(status: Status, edge: Edge) -> None:
    """A retry of the state, or a redrive after the reconciler said FAILED."""
    edge.post()
    edge.bring_to(status)
    _begin()
    assert edge.order().status is (Status.RUNNING if status is Status.ACCEPTED else status)


def test_one_whose_record_is_gone_is_superseded(dynamodb: "DynamoDBClient", edge: Edge) -> None:
    with pytest.raises(begin_order.Superseded):
        _begin()
    assert items(dynamodb, ORDERS) == []


def test_one_whose_key_has_become_another_order_is_superseded(edge: Edge) -> None:
    edge.post()
    edge.now += RETENTION
    edge.post(OTHER_BODY)
    with pytest.raises(begin_order.Superseded):
        _begin("order-1")
    assert edge.order().status is Status.ACCEPTED
    _begin("order-2")
    assert edge.order().status is Status.RUNNING


def test_one_that_is_through_has_succeeded_with_its_result(edge: Edge, metric_lines: Lines) -> None:
    edge.post()
    edge.bring_to(Status.RUNNING)
    metric_lines()
    assert _finish() is None
    assert edge.get().content == {"id": "order-1", "status": "SUCCEEDED", "result": RESULT}
    assert [line["Succeeded"] for line in metric_lines()] == [[1.0]]


@pytest.mark.parametrize("status", list(Status))
def test_it_succeeds_whatever_was_said_before(status: Status, edge: Edge) -> None:
    edge.post()
    edge.bring_to(status)
    _finish()
    assert edge.order().status is Status.SUCCEEDED
    assert json.loads(edge.order().result or "") == RESULT


def test_one_that_nobody_waits_for_any_more_ends_quietly(
    edge: Edge, log_lines: Lines, metric_lines: Lines
) -> None:
    edge.post()
    edge.now += RETENTION
    edge.post(OTHER_BODY)
    metric_lines()
    before = edge.order()
    _finish("order-1")
    assert edge.order() == before
    assert metric_lines() == []
    assert [line["order_id"] for line in log_lines() if line["level"] == "WARNING"] == ["order-1"]
