"""The record of an order: who may write what after what, and that nobody's write touches another's order."""

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orders.records import Order, Orders, Request, Status
from tests.unit.aws import refusal
from tests.unit.orders.conftest import Hook
from tests.unit.orders.edge import NOW, RETENTION
from tests.unit.orders.tables import ORDERS, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REQUEST = Request(caller="user:1:AIDAALICE", key="key-12345678")
OURS = {"request_id": REQUEST.id, "order_id": "O-1"}
LATER = NOW + 1_000

Write = Callable[[Orders, str], bool]  # of an order's id: whether the record is this order's

WRITES: dict[Status, Write] = {
    Status.RUNNING: lambda orders, order: orders.begin(REQUEST.id, order, now=LATER),
    Status.SUCCEEDED: lambda orders, order: orders.finish(REQUEST.id, order, now=LATER, result="[1]"),
    Status.FAILED: lambda orders, order: orders.fail(
        REQUEST.id, order, now=LATER, reason="it was stopped", tasks="[2]"
    ),
}
ALLOWED = {
    (Status.ACCEPTED, Status.RUNNING),
    (Status.ACCEPTED, Status.FAILED),
    (Status.RUNNING, Status.FAILED),
    (Status.FAILED, Status.FAILED),
    *((status, Status.SUCCEEDED) for status in Status),
}
TOLD = {
    Status.ACCEPTED: (None, None, None),
    Status.RUNNING: (None, None, None),
    Status.SUCCEEDED: ("[1]", None, None),
    Status.FAILED: (None, "it was stopped", "[2]"),
}
TRANSITIONS = list(product(Status, WRITES))


@pytest.fixture
def orders(dynamodb: "DynamoDBClient") -> Orders:
    return Orders(dynamodb, ORDERS, retention=RETENTION)


def _accept(orders: Orders, order_id: str = "O-1", *, now: int = NOW, body_hash: str = "hash-1") -> Order:
    location = f"/orders/{order_id}"
    return orders.accept(REQUEST, order_id=order_id, body_hash=body_hash, location=location, now=now)


def _in(status: Status, orders: Orders) -> None:
    _accept(orders)
    if status is Status.RUNNING:
        orders.begin(**OURS, now=NOW)
    if status is Status.SUCCEEDED:
        orders.finish(**OURS, now=NOW, result="[0]")
    if status is Status.FAILED:
        orders.fail(**OURS, now=NOW, reason="before", tasks="[0]")


def _read(orders: Orders, now: int = NOW) -> Order:
    order = orders.read(REQUEST, now=now)
    assert order is not None
    return order


@pytest.mark.parametrize(("before", "after"), [each for each in TRANSITIONS if each in ALLOWED])
def test_a_status_that_may_follow_is_written_and_renews_the_expiry(
    before: Status, after: Status, orders: Orders
) -> None:
    _in(before, orders)
    assert WRITES[after](orders, "O-1")
    order = _read(orders)
    assert order.status is after
    assert order.expires_at == LATER + RETENTION
    assert (order.result, order.reason, order.tasks) == TOLD[after]
    assert (order.id, order.body_hash, order.location) == ("O-1", "hash-1", "/orders/O-1")


@pytest.mark.parametrize(("before", "after"), [each for each in TRANSITIONS if each not in ALLOWED])
def test_one_that_may_not_changes_nothing_and_its_writer_goes_on(
    before: Status, after: Status, orders: Orders, dynamodb: "DynamoDBClient"
) -> None:
    _in(before, orders)
    stored = items(dynamodb, ORDERS)
    assert WRITES[after](orders, "O-1")
    assert items(dynamodb, ORDERS) == stored


@pytest.mark.parametrize(("before", "after"), TRANSITIONS)
def test_another_orders_record_is_not_touched(
    before: Status, after: Status, orders: Orders, dynamodb: "DynamoDBClient"
) -> None:
    _in(before, orders)
    stored = items(dynamodb, ORDERS)
    assert not WRITES[after](orders, "O-2")
    assert items(dynamodb, ORDERS) == stored


@pytest.mark.parametrize("status", WRITES)
def test_a_record_that_is_gone_is_not_made_anew(
    status: Status, orders: Orders, dynamodb: "DynamoDBClient"
) -> None:
    assert not WRITES[status](orders, "O-1")
    assert items(dynamodb, ORDERS) == []


@pytest.mark.parametrize("status", WRITES)
def test_a_lost_answer_of_a_write_does_not_matter(
    status: Status, orders: Orders, lose_answers: Callable[[str], None]
) -> None:
    _accept(orders)
    lose_answers("UpdateItem")
    assert WRITES[status](orders, "O-1")
    assert _read(orders).status is status


@pytest.mark.parametrize("status", WRITES)
def test_a_table_that_does_not_answer_is_the_callers_business(
    status: Status, orders: Orders, hook: Hook
) -> None:
    def refuse(**_: Any) -> None:
        raise refusal("ProvisionedThroughputExceededException")

    _accept(orders)
    hook("before-parameter-build.dynamodb.UpdateItem", refuse)
    with pytest.raises(ClientError, match="ProvisionedThroughputExceeded"):
        WRITES[status](orders, "O-1")


def test_a_refused_put_that_brings_nothing_back_is_an_error(orders: Orders, hook: Hook) -> None:
    """What stands in the way was deleted in the meantime: nobody knows whose it was."""

    def refuse(**_: Any) -> None:
        raise refusal("ConditionalCheckFailedException")

    hook("before-parameter-build.dynamodb.PutItem", refuse)
    with pytest.raises(ClientError):
        _accept(orders)


def test_the_second_to_accept_is_given_the_order_of_the_first(orders: Orders) -> None:
    first = _accept(orders, "O-1")
    assert first.id == "O-1"
    assert _accept(orders, "O-2", body_hash="hash-2", now=LATER) == first
    assert _read(orders) == first


@pytest.mark.parametrize("status", list(Status))
def test_a_record_may_be_replaced_from_the_second_of_its_expiry(status: Status, orders: Orders) -> None:
    _in(status, orders)
    until = _read(orders).expires_at
    assert _accept(orders, "O-2", now=until - 1).id == "O-1"
    assert orders.read(REQUEST, now=until) is None
    assert _accept(orders, "O-2", now=until).id == "O-2"
    order = _read(orders, now=until)
    assert (order.id, order.status, order.expires_at) == ("O-2", Status.ACCEPTED, until + RETENTION)
    assert (order.result, order.reason, order.tasks) == (None, None, None)


@pytest.mark.parametrize("status", WRITES)
def test_the_old_orders_workflow_cannot_write_to_the_new_one(status: Status, orders: Orders) -> None:
    _accept(orders, "O-1")
    _accept(orders, "O-2", now=NOW + RETENTION)
    before = _read(orders, now=NOW + RETENTION)
    assert not WRITES[status](orders, "O-1")
    assert _read(orders, now=NOW + RETENTION) == before


def test_requests_and_executions_of_different_callers_keys_and_orders_are_different() -> None:
    """Also where the parts, put side by side, read the same."""
    requests = [
        Request(caller=caller, key=key)
        for caller, key in [("a", "b"), ("b", "a"), ("ab", ""), ("", "ab"), ("a,b", "c"), ("a", "b,c")]
    ]
    names = {request.execution_name(order) for request in requests for order in ("O-1", "O-2", "")}
    assert len({request.id for request in requests}) == len(requests)
    assert len(names) == 3 * len(requests)
    assert not names & {request.id for request in requests}


def test_ids_and_names_are_the_same_in_every_process() -> None:
    """They are stored, and must be found again by a later version."""
    request = Request(caller="user:1:AIDAALICE", key="key-12345678")
    assert request.id == "b041a8b00a017105530e1c734b1573c23e235c5ec89edcc858af1028827ab267"
    assert request.execution_name("O-1") == "096ed93f9513f794850d6cd3c2710b62deea73e41e24f7a2e469fafe5cb27f68"
