"""Orders that fail: no task begins after the one that did, and the reconciler tells the caller."""

import json

import pytest

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from tests.statemachines.executions import Run
from tests.statemachines.faults import CRASH, Gate, Play, after, answer_lost, fails, works
from tests.statemachines.orders_downstream import dies
from tests.statemachines.orders_run import OrdersRun
from tests.unit.orders.requests import ORDER

THREE_ITEMS = json.dumps({**ORDER, "items": [{"sku": f"SKU-{number}", "quantity": 1} for number in range(3)]})
NO_ITEM = ["not done", "not done"]


def test_a_payment_that_is_rejected_fails_the_order_and_nothing_is_provisioned(orders: OrdersRun) -> None:
    orders.payment.tasks["charge-payment"].always(fails(Rejected("HTTP 402")))
    run = orders.place()
    assert (run.status, run.error) == ("FAILED", "Rejected")
    assert run.states == ["BeginOrder", "ChargePayment"]
    assert sum(orders.payment.asked.values()) == 1
    assert orders.provisioning.asked == {}
    assert orders.clock.naps == []
    assert orders.told()["status"] == "RUNNING"

    assert orders.reconcile() == {"handled": 1}

    assert orders.told() == {
        "id": "order-1",
        "status": "FAILED",
        "reason": "a task failed",
        "tasks": {"payment": "not done", "items": NO_ITEM},
    }
    assert orders.post().replayed
    assert orders.reconcile() == {"handled": 0}


@pytest.mark.parametrize(
    ("play", "payment"),
    [
        (fails(NotApplied("HTTP 429")), "not done"),
        (fails(OutcomeUnknown("HTTP 500")), "unknown"),
        (answer_lost(OutcomeUnknown("no answer")), "unknown"),
    ],
    ids=["not applied", "unknown, not applied", "unknown, applied"],
)
def test_a_payment_that_fails_for_good_is_told_as_what_is_known_of_it(
    play: Play, payment: str, orders: OrdersRun
) -> None:
    orders.payment.tasks["charge-payment"].always(play)
    assert orders.place().status == "FAILED"
    assert sum(orders.payment.asked.values()) == 1 + orders.settings.workflow.retry_attempts
    orders.reconcile()
    assert orders.told()["tasks"] == {"payment": payment, "items": NO_ITEM}


def test_one_unknown_try_among_refusals_makes_the_payment_unknown(orders: OrdersRun) -> None:
    script = orders.payment.tasks["charge-payment"]
    script.first(fails(NotApplied("HTTP 429")), answer_lost(OutcomeUnknown("no answer")))
    script.always(fails(Rejected("HTTP 409")))
    assert orders.place().error == "Rejected"
    orders.reconcile()
    assert orders.told()["tasks"]["payment"] == "unknown"


def test_a_payment_whose_answers_are_lost_each_time_is_done(orders: OrdersRun) -> None:
    """Its record says so."""
    orders.functions.charge_payment.script.always(answer_lost(CRASH))
    assert orders.place().status == "FAILED"
    orders.reconcile()
    assert orders.told()["tasks"] == {"payment": "done", "items": NO_ITEM}


def test_one_item_that_is_rejected_fails_the_order_and_the_others_are_told_as_they_ended(
    orders: OrdersRun,
) -> None:
    rejected = Gate()
    orders.provisioning.tasks["provision-item:1"].always(after(rejected, fails(Rejected("HTTP 404"))))
    execution = orders.begin(THREE_ITEMS)
    rejected.wait_until_reached()
    orders.provisioning.wait_for_effects(2)
    orders.functions.wait_until_at_work(1)
    rejected.open()
    run = orders.machine.finish(execution)
    assert (run.status, run.error) == ("FAILED", "Rejected")
    assert "FinishOrder" not in run.states

    orders.reconcile()

    assert orders.told()["tasks"] == {"payment": "done", "items": ["done", "not done", "done"]}


def test_items_of_which_nobody_knows_are_told_apart_from_those_that_did_not_happen(
    orders: OrdersRun,
) -> None:
    tasks, over = orders.provisioning.tasks, Gate()
    refused, lost = fails(NotApplied("HTTP 429")), answer_lost(OutcomeUnknown("no answer"))
    tasks["provision-item:0"].first(after(lambda: orders.provisioning.wait_for_effects(2), refused))
    tasks["provision-item:0"].always(refused)
    tasks["provision-item:1"].first(lost)
    tasks["provision-item:1"].always(after(over, lost))  # else it might fail the order amid a try of item 0
    run = orders.place(THREE_ITEMS)
    assert run.status == "FAILED"
    over.open()
    orders.functions.wait_until_idle()
    orders.reconcile()
    assert orders.told()["tasks"] == {"payment": "done", "items": ["not done", "unknown", "done"]}


def test_an_order_whose_last_write_is_never_heard_of_has_succeeded(orders: OrdersRun) -> None:
    orders.functions.finish_order.script.always(answer_lost(CRASH))
    assert orders.place().status == "FAILED"
    assert orders.reconcile() == {"handled": 1}
    assert orders.told().keys() == {"id", "status", "result"}


def test_an_order_whose_last_write_never_comes_about_is_told_with_all_done(orders: OrdersRun) -> None:
    orders.functions.finish_order.script.always(fails(CRASH))
    assert orders.place().status == "FAILED"
    orders.reconcile()
    assert orders.told()["tasks"] == {"payment": "done", "items": ["done", "done"]}


def test_an_order_that_can_not_even_begin_is_told(orders: OrdersRun) -> None:
    orders.functions.begin_order.script.always(fails(CRASH))
    run = orders.place()
    assert run.states == ["BeginOrder"]
    assert orders.told()["status"] == "ACCEPTED"
    orders.reconcile()
    assert orders.told()["tasks"] == {"payment": "not done", "items": NO_ITEM}


@pytest.mark.parametrize("gone", [False, True], ids=["another order's", "gone"])
def test_an_order_whose_record_is_no_longer_its_own_begins_no_task(gone: bool, orders: OrdersRun) -> None:
    gate = Gate()
    orders.functions.begin_order.script.first(after(gate, works))
    execution = orders.begin()
    gate.wait_until_reached()
    orders.clock.advance(orders.settings.retention_seconds)
    if gone:
        orders.forget()
    else:
        assert not orders.post(json.dumps(ORDER, indent=1)).replayed
        second = orders.machine.finish(orders.machine.latest)
        assert second.status == "SUCCEEDED"
    gate.open()

    run = orders.machine.finish(execution)

    assert (run.status, run.states) == ("SUCCEEDED", ["BeginOrder", "Superseded"])
    assert len(orders.payment.asked) == (0 if gone else 1)
    assert orders.clock.naps == []
    assert orders.reconcile() == {"handled": 0}


ENDS = {"ABORTED": "it was stopped", "TIMED_OUT": "it took too long"}


@pytest.mark.parametrize("status", ENDS)
@pytest.mark.parametrize(
    ("then", "payment"),
    [(works, "done"), (dies(applied=True), "unknown"), (dies(applied=False), "unknown")],
    ids=["done", "dies after", "dies before"],
)
def test_an_order_that_is_broken_off_amid_its_payment_is_told(
    status: str, then: Play, payment: str, orders: OrdersRun
) -> None:
    """The function goes on for a while after its execution has ended; the reconciler waits for that."""
    run = broken_off(orders, status, then=then)
    assert (run.status, orders.told()["status"]) == (status, "RUNNING")
    orders.clock.advance(-1)
    assert orders.reconcile() == {"handled": 0}
    orders.clock.advance(1 - orders.settings.settle_seconds)
    assert orders.reconcile() == {"handled": 1}
    assert orders.told() == {
        "id": "order-1",
        "status": "FAILED",
        "reason": ENDS[status],
        "tasks": {"payment": payment, "items": NO_ITEM},
    }
    assert orders.post().replayed
    assert orders.provisioning.asked == {}


def broken_off(orders: OrdersRun, status: str, *, then: Play) -> Run:
    gate = Gate()
    orders.payment.tasks["charge-payment"].first(after(gate, then))
    execution = orders.begin()
    gate.wait_until_reached()
    if status == "TIMED_OUT":
        orders.time_is_up.set()
        orders.machine.finish(execution)
    else:
        orders.machine.stop(execution)
    gate.open()
    orders.functions.wait_until_idle()
    return orders.machine.finish(execution)
