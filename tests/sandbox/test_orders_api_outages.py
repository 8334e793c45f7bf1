"""AWS does not answer, or its answer is lost: the client hears 503 at worst, and a retry makes up for it."""

import pytest

from sandbox.faults import Ordered
from tests.sandbox.orders_api import DeployedOrders, order, placed, problem, told

TRIES = 2  # of the SDK, the first included


def put_item(orders: DeployedOrders, key: str) -> str:
    """The acceptance of this key, as a JMESPath expression over the request."""
    return f"Item.key.S == '{key}'"


def start_execution(orders: DeployedOrders, key: str) -> str:
    return f"contains(input, '{orders.request(key).id}')"


CALLS = {"PutItem": put_item, "StartExecution": start_execution}


def lose(orders: DeployedOrders, call: str, key: str, *, times: int) -> Ordered:
    return orders.faults.lost_answer(call, body=CALLS[call](orders, key), times=times)


def carried_out_once(orders: DeployedOrders, key: str) -> bool:
    end = orders.ended(key)
    return (end["status"], len(orders.executions(key)), orders.charges(end["id"])) == ("SUCCEEDED", 1, 1)


@pytest.mark.parametrize("call", CALLS)
def test_one_lost_answer_goes_unnoticed(orders: DeployedOrders, call: str) -> None:
    key = orders.key()
    fault = lose(orders, call, key, times=1)

    reply = placed(orders.post(key, order()))

    assert (reply.status, reply.replayed) == (202, False)
    assert fault.fired() == 1
    assert carried_out_once(orders, key)


@pytest.mark.parametrize("call", CALLS)
def test_after_nothing_but_lost_answers_a_retry_finds_what_was_done(
    orders: DeployedOrders, call: str
) -> None:
    key = orders.key()
    fault = lose(orders, call, key, times=TRIES)

    unheard = placed(orders.post(key, order()))
    assert problem(unheard) == (503, "unavailable")
    assert int(unheard.headers["retry-after"]) > 0
    assert fault.fired() == TRIES
    reply = placed(orders.post(key, order()))

    assert (reply.status, reply.replayed) == (202, True)
    assert carried_out_once(orders, key)


def test_an_order_that_was_recorded_and_not_started_is_started_by_a_retry(orders: DeployedOrders) -> None:
    key = orders.key()
    orders.faults.reset("StartExecution", body=start_execution(orders, key), times=TRIES)

    assert problem(placed(orders.post(key, order()))) == (503, "unavailable")
    assert told(orders.get(key)).json["status"] == "ACCEPTED"
    assert orders.executions(key) == []
    assert placed(orders.post(key, order())).replayed

    assert carried_out_once(orders, key)


@pytest.mark.parametrize("code", ["ProvisionedThroughputExceededException", "ThrottlingException"])
def test_a_throttled_table_is_an_outage_that_a_retry_outlasts(orders: DeployedOrders, code: str) -> None:
    key = orders.key()
    fault = orders.faults.error("PutItem", code, status=400, body=put_item(orders, key), times=TRIES)

    refused = placed(orders.post(key, order()))
    assert problem(refused) == (503, "unavailable")
    assert int(refused.headers["retry-after"]) > 0
    assert fault.fired() == TRIES
    assert told(orders.get(key)).status == 404
    reply = placed(orders.post(key, order()))

    assert (reply.status, reply.replayed) == (202, False)
    assert carried_out_once(orders, key)


def test_a_status_that_can_not_be_read_is_no_unknown_order(orders: DeployedOrders) -> None:
    key = orders.key()
    placed(orders.post(key, order()))
    record = f"Key.pk.S == 'order:{orders.request(key).id}'"
    orders.faults.error("GetItem", "InternalServerError", status=500, body=record, times=TRIES)

    unread = told(orders.get(key))
    assert problem(unread) == (503, "unavailable")
    assert int(unread.headers["retry-after"]) > 0
    assert told(orders.get(key)).status == 200
