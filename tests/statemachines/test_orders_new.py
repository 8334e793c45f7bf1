"""An order that goes as it should, whatever has to be tried again on the way."""

import json
from typing import Any

import pytest

from idempotency.errors import NotApplied, OutcomeUnknown
from tests.statemachines.faults import CRASH, Play, answer_lost, fails
from tests.statemachines.orders_downstream import Downstream, dies
from tests.statemachines.orders_run import OrdersRun
from tests.unit.orders.requests import ORDER

STATES = ["BeginOrder", "ChargePayment", "ProvisionItems", "ProvisionItem", "ProvisionItem", "FinishOrder"]
TASKS = ["charge-payment", "provision-item:0", "provision-item:1"]


def result(orders: OrdersRun) -> dict[str, Any]:
    return {
        "payment": {"receipt": orders.payment.receipt("charge-payment")},
        "items": [{"receipt": orders.provisioning.receipt(f"provision-item:{number}")} for number in (0, 1)],
    }


def downstream_of(orders: OrdersRun, task: str) -> Downstream:
    return orders.payment if task == "charge-payment" else orders.provisioning


def test_a_new_order_is_charged_and_provisioned_once(orders: OrdersRun) -> None:
    run = orders.place()
    name = run.arn.rpartition(":")[2]
    assert (run.status, run.states) == ("SUCCEEDED", STATES)
    assert orders.payment.happened == {f"{name}:charge-payment": {"orderId": "order-1", **ORDER["payment"]}}
    assert orders.provisioning.happened == {
        f"{name}:provision-item:{number}": {"orderId": "order-1", **item}
        for number, item in enumerate(ORDER["items"])
    }
    assert orders.told() == {"id": "order-1", "status": "SUCCEEDED", "result": result(orders)}
    assert orders.reconcile() == {"handled": 0}


def test_it_runs_while_its_payment_is_charged(orders: OrdersRun) -> None:
    seen: list[str] = []

    def look(work: Any) -> Any:
        seen.append(orders.told()["status"])
        return work()

    orders.payment.tasks["charge-payment"].always(look)
    orders.provisioning.tasks["provision-item:1"].always(look)
    assert orders.post().content["status"] == "ACCEPTED"
    orders.machine.finish(orders.machine.latest)
    assert seen == ["RUNNING", "RUNNING"]


def test_a_repeated_post_starts_nothing(orders: OrdersRun) -> None:
    run = orders.place()
    first = orders.told()
    assert orders.post().replayed
    assert orders.told() == first
    assert len(orders.machine.client.list_executions(stateMachineArn=orders.machine.arn)["executions"]) == 1
    assert run.status == "SUCCEEDED"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "play",
    [
        fails(NotApplied("HTTP 429")),
        fails(OutcomeUnknown("HTTP 500")),
        answer_lost(OutcomeUnknown("no answer")),
        dies(applied=False),
        dies(applied=True),
    ],
    ids=["not applied", "unknown, not applied", "unknown, applied", "crash before", "crash after"],
)
def test_a_task_that_fails_once_is_done_by_a_retry(task: str, play: Play, orders: OrdersRun) -> None:
    downstream = downstream_of(orders, task)
    downstream.tasks[task].first(play)
    run = orders.place()
    assert run.status == "SUCCEEDED"
    assert downstream.asks(task) == 2
    assert orders.told()["result"] == result(orders)
    assert len(orders.payment.happened) == 1
    assert len(orders.provisioning.happened) == 2


@pytest.mark.parametrize("function", ["charge_payment", "provision_item"])
def test_a_task_whose_answer_is_lost_answers_its_retry_with_the_first_receipt(
    function: str, orders: OrdersRun
) -> None:
    """The downstream is not even asked again."""
    getattr(orders.functions, function).script.first(answer_lost(CRASH))
    assert orders.place().status == "SUCCEEDED"
    assert set(orders.payment.asked.values()) == set(orders.provisioning.asked.values()) == {1}
    assert orders.told()["result"] == result(orders)


@pytest.mark.parametrize("function", ["begin_order", "finish_order"])
@pytest.mark.parametrize("play", [fails(CRASH), answer_lost(CRASH)], ids=["before", "after"])
def test_the_first_and_the_last_state_are_retried_too(function: str, play: Play, orders: OrdersRun) -> None:
    getattr(orders.functions, function).script.first(play)
    assert orders.place().status == "SUCCEEDED"
    assert orders.told()["status"] == "SUCCEEDED"
    assert set(orders.payment.asked.values()) == {1}


@pytest.mark.parametrize("task", ["charge-payment", "provision-item:1"])
def test_looking_for_a_lost_invocation_lasts_longer_than_it_can_hold_its_task(
    task: str, orders: OrdersRun
) -> None:
    """It died at work: until its time is over nobody can know that it is not still at it."""
    downstream_of(orders, task).tasks[task].first(dies(applied=False))
    assert orders.place().status == "SUCCEEDED"
    first, *looks = orders.clock.naps
    held = orders.settings.functions.charge_payment.timeout_seconds + orders.settings.margin_seconds
    assert first == orders.settings.workflow.retry_interval_seconds
    assert set(looks) == {orders.settings.workflow.in_progress_interval_seconds}
    assert first + sum(looks[:-1]) <= held < first + sum(looks)
    assert len(looks) <= orders.settings.in_progress_attempts


@pytest.mark.parametrize("task", ["charge-payment", "provision-item:0"])
def test_a_downstream_that_is_away_is_tried_again_at_growing_distances(task: str, orders: OrdersRun) -> None:
    w = orders.settings.workflow
    downstream_of(orders, task).tasks[task].first(*[fails(NotApplied("HTTP 503"))] * w.retry_attempts)
    assert orders.place().status == "SUCCEEDED"
    expected = [
        min(w.retry_interval_seconds * 2**n, w.retry_max_delay_seconds) for n in range(w.retry_attempts)
    ]
    assert orders.clock.naps == expected


def test_two_orders_of_the_same_content_share_nothing(orders: OrdersRun) -> None:
    """The same key, used again after its record's expiry."""
    orders.place()
    first = orders.told()
    orders.clock.advance(orders.settings.retention_seconds)
    orders.place()
    second = orders.told()
    assert second["id"] != first["id"]
    assert len(orders.payment.happened) == 2
    assert len(orders.provisioning.happened) == 4
    receipts = {json.dumps(each["result"]) for each in (first, second)}
    assert len(receipts) == 2
