"""Workers die, executions are stopped, writes go unheard: orders are carried out once, or failures told."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import pytest

from orders.task_records import record_id
from sandbox.demo.beside import beside
from sandbox.downstream import Answer
from tests.sandbox.deployed import eventually
from tests.sandbox.orders_api import DeployedOrders
from tests.sandbox.orders_workflow import (
    DROPPED,
    HELD,
    REJECTED,
    SDK_TRIES,
    TRIES,
    OrdersWorkflow,
    Placed,
)

STOPPED, FAILED = "it was stopped", "a task failed"


def kill_over_a_payment(workflow: OrdersWorkflow) -> Placed:
    placed = workflow.place(payment=(HELD, Answer()))
    eventually(lambda: workflow.charged(placed))
    assert workflow.deployment.kill("ChargePayment")
    return placed


def kill_over_an_item(workflow: OrdersWorkflow) -> Placed:
    placed = workflow.place(first_item=(HELD, Answer()))
    eventually(lambda: workflow.provisioned(placed, 0))
    assert workflow.deployment.kill("ProvisionItem")
    return placed


def claim_that_nobody_heard_of(workflow: OrdersWorkflow) -> Placed:
    """All tries of the call that claims the payment."""
    placed = workflow.place_held_back()
    fault = lose(workflow, "PutItem", placed, times=SDK_TRIES)
    eventually(lambda: fault() == SDK_TRIES)
    return placed


def stop_during_the_payment(workflow: OrdersWorkflow) -> Placed:
    """What it is told of goes unheard, too; a second run of the reconciler has nothing left to do."""
    placed = workflow.place(payment=(HELD,))
    told = workflow.faults.lost_answer("UpdateItem", body=workflow.write_of_record(placed.key, "FAILED"))
    eventually(lambda: workflow.charged(placed))
    workflow.stop(placed)
    assert workflow.orders.get(placed.key).json["status"] == "RUNNING"
    workflow.settle_and_reconcile(placed)
    assert told.fired() == 1
    again = workflow.faults.lost_answer("UpdateItem", body=workflow.write_of_record(placed.key, "FAILED"))
    workflow.deployment.reconcile()  # deals with what other stories have stopped meanwhile
    assert again.fired() == 0
    return placed


def stop_during_an_item(workflow: OrdersWorkflow) -> Placed:
    placed = workflow.place(first_item=(HELD,))
    eventually(lambda: workflow.provisioned(placed, 0))
    workflow.stop(placed)
    workflow.settle_and_reconcile(placed)
    return placed


def reject_a_payment(workflow: OrdersWorkflow) -> Placed:
    placed = workflow.place(payment=(REJECTED,))
    workflow.settle_and_reconcile(placed)
    return placed


def reject_an_item(workflow: OrdersWorkflow) -> Placed:
    placed = workflow.place(first_item=(REJECTED,))
    workflow.settle_and_reconcile(placed)
    return placed


def never_answer_for_a_payment(workflow: OrdersWorkflow) -> Placed:
    placed = workflow.place(payment=(DROPPED,) * TRIES)
    workflow.settle_and_reconcile(placed)
    return placed


def never_answer_for_an_item(workflow: OrdersWorkflow) -> Placed:
    placed = workflow.place(first_item=(DROPPED,) * TRIES)
    workflow.settle_and_reconcile(placed)
    return placed


Story = Callable[[OrdersWorkflow], Placed]
Begun = dict[Story, Future[Placed]]

# One after the other, before the rest: they kill what others are at work in.
ALONE: tuple[Story, ...] = (kill_over_a_payment, kill_over_an_item)
SIDE_BY_SIDE: tuple[Story, ...] = (
    claim_that_nobody_heard_of,
    stop_during_the_payment,
    stop_during_an_item,
    reject_a_payment,
    reject_an_item,
    never_answer_for_a_payment,
    never_answer_for_an_item,
)


@pytest.fixture(scope="module")
def workflow(orders: DeployedOrders) -> OrdersWorkflow:
    return OrdersWorkflow(orders)


@pytest.fixture(scope="module")
def begun(workflow: OrdersWorkflow) -> Begun:
    """What takes long, so that the tests wait for all of it at once."""
    stories: Begun = {}
    for story in ALONE:
        stories[story] = beside(partial(story, workflow))
        stories[story].exception(timeout=120)
    return stories | {story: beside(partial(story, workflow)) for story in SIDE_BY_SIDE}


def placed_by(begun: Begun, story: Story) -> Placed:
    """Raises what the story raised."""
    return begun[story].result(timeout=240)


def succeeded(workflow: OrdersWorkflow, placed: Placed) -> dict[str, Any]:
    """Fails unless it was carried out, once; answers its result."""
    end = workflow.end(placed)
    assert end["status"] == "SUCCEEDED"
    assert workflow.effects(placed) == [1, 1, 1]
    return dict(end["result"])


def failed(workflow: OrdersWorkflow, placed: Placed) -> tuple[str, dict[str, Any], list[int]]:
    """Why, what its caller is told of each task, and what took place."""
    end = workflow.end(placed)
    assert end["status"] == "FAILED"
    return end["reason"], end["tasks"], workflow.effects(placed)


def lose(workflow: OrdersWorkflow, operation: str, placed: Placed, *, times: int) -> Callable[[], int]:
    """The answers to a write of the payment's record; how often that has come about so far."""
    record = record_id(placed.payment)
    path = "Item.id.S" if operation == "PutItem" else "Key.id.S"
    return workflow.faults.lost_answer(operation, body=f"{path} == '{record}'", times=times).fired


def test_a_payment_whose_worker_died_is_charged_once(workflow: OrdersWorkflow, begun: Begun) -> None:
    placed = placed_by(begun, kill_over_a_payment)

    result = succeeded(workflow, placed)
    first, *others = workflow.charged(placed)
    assert others
    assert result["payment"] == {"receipt": first.answer.body.decode()}
    assert first.call.attempt == "1" < others[-1].call.attempt


def test_an_item_whose_worker_died_is_provisioned_once(workflow: OrdersWorkflow, begun: Begun) -> None:
    placed = placed_by(begun, kill_over_an_item)

    result = succeeded(workflow, placed)
    first, *others = workflow.provisioned(placed, 0)
    assert others
    assert result["items"][0] == {"receipt": first.answer.body.decode()}
    assert len(workflow.charged(placed)) == 1


def test_a_task_whose_claim_nobody_heard_of_is_done_when_that_has_lapsed(
    workflow: OrdersWorkflow, begun: Begun
) -> None:
    placed = placed_by(begun, claim_that_nobody_heard_of)

    succeeded(workflow, placed)
    (charge,) = workflow.charged(placed)
    assert int(charge.call.attempt) > 1


def test_stopped_during_the_payment_that_is_done_all_the_same(workflow: OrdersWorkflow, begun: Begun) -> None:
    placed = placed_by(begun, stop_during_the_payment)

    tasks = {"payment": "done", "items": ["not done", "not done"]}
    assert failed(workflow, placed) == (STOPPED, tasks, [1, 0, 0])
    assert workflow.states(placed) == ["BeginOrder", "ChargePayment"]


def test_stopped_when_all_was_done_but_nobody_had_said_so(workflow: OrdersWorkflow, begun: Begun) -> None:
    placed = placed_by(begun, stop_during_an_item)

    tasks = {"payment": "done", "items": ["done", "done"]}
    assert failed(workflow, placed) == (STOPPED, tasks, [1, 1, 1])


def test_of_a_rejected_payment_nothing_is_provisioned(workflow: OrdersWorkflow, begun: Begun) -> None:
    placed = placed_by(begun, reject_a_payment)

    tasks = {"payment": "not done", "items": ["not done", "not done"]}
    assert failed(workflow, placed) == (FAILED, tasks, [0, 0, 0])
    assert len(workflow.charged(placed)) == 1


def test_a_rejected_item_is_told_beside_what_was_done(workflow: OrdersWorkflow, begun: Begun) -> None:
    """The emulator lets the other items come to their end; AWS would not wait for them."""
    placed = placed_by(begun, reject_an_item)

    tasks = {"payment": "done", "items": ["not done", "done"]}
    assert failed(workflow, placed) == (FAILED, tasks, [1, 0, 1])


def test_of_a_payment_for_which_no_answer_came_nobody_knows(workflow: OrdersWorkflow, begun: Begun) -> None:
    placed = placed_by(begun, never_answer_for_a_payment)

    tasks = {"payment": "unknown", "items": ["not done", "not done"]}
    assert failed(workflow, placed) == (FAILED, tasks, [1, 0, 0])
    assert len(workflow.charged(placed)) == TRIES


def test_of_an_item_for_which_no_answer_came_nobody_knows(workflow: OrdersWorkflow, begun: Begun) -> None:
    placed = placed_by(begun, never_answer_for_an_item)

    tasks = {"payment": "done", "items": ["unknown", "done"]}
    assert failed(workflow, placed) == (FAILED, tasks, [1, 1, 1])
    assert len(workflow.provisioned(placed, 0)) == TRIES


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem"])
def test_a_task_recognises_its_own_write_when_the_answer_was_lost(
    workflow: OrdersWorkflow, operation: str
) -> None:
    placed = workflow.place_held_back()
    fired = lose(workflow, operation, placed, times=1)

    succeeded(workflow, placed)
    (charge,) = workflow.charged(placed)
    assert (fired(), charge.call.attempt) == (1, "1")


def test_a_task_whose_completion_nobody_heard_of_answers_its_first_receipt(workflow: OrdersWorkflow) -> None:
    placed = workflow.place_held_back()
    fired = lose(workflow, "UpdateItem", placed, times=SDK_TRIES)

    result = succeeded(workflow, placed)
    (charge,) = workflow.charged(placed)
    assert fired() == SDK_TRIES
    assert result["payment"] == {"receipt": charge.answer.body.decode()}


@pytest.mark.parametrize("times", [1, SDK_TRIES])
@pytest.mark.parametrize("status", ["RUNNING", "SUCCEEDED"])
def test_a_status_is_told_although_its_write_went_unheard(
    workflow: OrdersWorkflow, status: str, times: int
) -> None:
    placed = workflow.place_held_back()
    where = workflow.write_of_record(placed.key, status)
    fault = workflow.faults.lost_answer("UpdateItem", body=where, times=times)

    succeeded(workflow, placed)
    eventually(lambda: fault.fired() == times)
    assert len(workflow.charged(placed)) == 1


def test_tasks_remember_what_they_did(workflow: OrdersWorkflow) -> None:
    placed = workflow.place()

    succeeded(workflow, placed)
    for task in (placed.payment, placed.item(0), placed.item(1)):
        assert workflow.task(task)["status"] == "COMPLETED"
