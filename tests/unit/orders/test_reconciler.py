"""Orders whose executions broke off: their callers are told FAILED, and what each task did; once."""

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from executions.handled import HandledEnds
from executions.unfinished import UnfinishedExecutions, Unreconciled
from orders.reconciler import Reconciler
from orders.records import Status
from orders.task_records import record_id, task_key
from orders.task_states import TaskStates
from tests.unit.aws import Execution, refusal
from tests.unit.conftest import Lines
from tests.unit.orders.conftest import Hook
from tests.unit.orders.edge import MACHINE, RETENTION, Edge
from tests.unit.orders.histories import SUCCEEDED, TIMED_OUT, History
from tests.unit.orders.requests import ORDER, OTHER_BODY
from tests.unit.orders.tables import ORDERS, TASKS, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SETTLE, MACHINE_TIMEOUT = 40, 3_600
TOLD = {"FAILED": "a task failed", "TIMED_OUT": "it took too long", "ABORTED": "it was stopped"}
NOTHING_DONE = {"payment": "not done", "items": ["not done", "not done"]}


class Workload:
    """One order of Alice's, accepted; its execution as the test brings it about."""

    def __init__(self, edge: Edge, dynamodb: "DynamoDBClient") -> None:
        self.edge = edge
        self.dynamodb = dynamodb
        edge.post()
        (self.execution,) = edge.executions

    def broke_off(self, status: str = "FAILED", history: History | None = None) -> Execution:
        """A while ago."""
        self.execution.status = status
        self.execution.stopped = self.edge.now
        self.execution.history = history.events if history else []
        self.edge.now += 300
        return self.execution

    def done(self, task: str, number: int | None = None) -> None:
        name = self.execution.arn.rpartition(":")[2]
        item = {"id": {"S": record_id(task_key(name, task, number))}, "status": {"S": "COMPLETED"}}
        self.dynamodb.put_item(TableName=TASKS, Item=item)

    def run(self) -> dict[str, int]:
        return Reconciler(
            executions=UnfinishedExecutions(
                stepfunctions=self.edge.stepfunctions,
                handled=HandledEnds(self.dynamodb, ORDERS),
                machine=MACHINE,
                machine_timeout=MACHINE_TIMEOUT,
                settle=SETTLE,
                clock=lambda: self.edge.now,
            ),
            orders=self.edge.orders,
            tasks=TaskStates(stepfunctions=self.edge.stepfunctions, dynamodb=self.dynamodb, table=TASKS),
            clock=lambda: self.edge.now,
        ).run(enough_time=lambda: True)

    @property
    def told(self) -> dict[str, Any]:
        return self.edge.get().content


@pytest.fixture
def workload(edge: Edge, dynamodb: "DynamoDBClient") -> Workload:
    return Workload(edge, dynamodb)


@pytest.mark.parametrize("status", TOLD)
@pytest.mark.parametrize("before", [Status.ACCEPTED, Status.RUNNING])
def test_an_order_whose_execution_broke_off_has_failed(
    status: str, before: Status, workload: Workload, metric_lines: Lines
) -> None:
    workload.edge.bring_to(before)
    workload.broke_off(status)
    metric_lines()
    assert workload.run() == {"handled": 1}
    assert workload.told == {
        "id": "order-1",
        "status": "FAILED",
        "reason": TOLD[status],
        "tasks": NOTHING_DONE,
    }
    assert workload.edge.order().expires_at == workload.edge.now + RETENTION
    assert [line["Status"] for line in metric_lines() if "Failed" in line] == [status]
    assert workload.run() == {"handled": 0}


def test_it_is_told_what_each_task_did(workload: Workload) -> None:
    history = History()
    history.interleave({0: [SUCCEEDED], 1: ["NotApplied", TIMED_OUT]}, count())
    workload.done("charge-payment")
    workload.done("provision-item", 0)
    workload.broke_off("ABORTED", history)
    workload.run()
    assert workload.told["tasks"] == {"payment": "done", "items": ["done", "unknown"]}


def test_an_order_that_succeeded_stays_so(workload: Workload) -> None:
    """FinishOrder's answer was lost each time: the execution has failed, the order has not."""
    workload.edge.bring_to(Status.SUCCEEDED)
    before = workload.told
    workload.broke_off()
    assert workload.run() == {"handled": 1}
    assert workload.told == before


def test_a_redriven_execution_that_breaks_off_again_is_told_anew(workload: Workload) -> None:
    workload.broke_off("FAILED")
    workload.run()
    workload.done("charge-payment")
    workload.broke_off("ABORTED")
    assert workload.run() == {"handled": 1}
    assert workload.told["reason"] == "it was stopped"
    assert workload.told["tasks"]["payment"] == "done"


def test_an_order_that_is_redriven_after_it_was_told_failed_may_succeed(workload: Workload) -> None:
    workload.broke_off()
    workload.run()
    workload.edge.bring_to(Status.SUCCEEDED)
    assert workload.told.keys() == {"id", "status", "result"}


@pytest.mark.parametrize("status", ["RUNNING", "SUCCEEDED"])
def test_other_executions_are_none_of_its_business(status: str, workload: Workload) -> None:
    workload.broke_off(status)
    assert workload.run() == {"handled": 0}
    assert workload.edge.order().status is Status.ACCEPTED


def test_the_order_that_has_the_key_by_now_is_not_touched(workload: Workload) -> None:
    workload.edge.now += RETENTION
    workload.edge.post(OTHER_BODY)
    before = workload.edge.order()
    workload.broke_off()
    assert workload.run() == {"handled": 1}
    assert workload.edge.order() == before


def test_a_record_that_is_gone_is_not_made_anew(workload: Workload, dynamodb: "DynamoDBClient") -> None:
    (item,) = items(dynamodb, ORDERS)
    dynamodb.delete_item(TableName=ORDERS, Key={"pk": {"S": item["pk"]}, "sk": {"S": item["sk"]}})
    workload.broke_off()
    assert workload.run() == {"handled": 1}
    assert [each["pk"].partition(":")[0] for each in items(dynamodb, ORDERS)] == ["execution"]


def test_an_execution_that_was_started_by_hand_does_not_keep_orders_waiting(workload: Workload) -> None:
    by_hand = Execution(arn="arn:by-hand", input='{"hello": "world"}', status="FAILED")
    by_hand.stopped = workload.edge.now + 1
    workload.edge.stepfunctions.executions["by-hand"] = by_hand
    workload.broke_off()
    with pytest.raises(Unreconciled, match="1 executions, the first of them arn:by-hand"):
        workload.run()
    assert workload.told["status"] == "FAILED"


@pytest.mark.parametrize("operation", ["UpdateItem", "BatchGetItem"])
def test_what_can_not_be_told_now_is_told_by_the_next_run(
    operation: str, workload: Workload, hook: Hook
) -> None:
    refused: list[str] = []

    def refuse_once(params: dict[str, Any], **_: Any) -> None:
        if TASKS in str(params) or operation == "UpdateItem":
            refused.append(operation)
            if len(refused) == 1:
                raise refusal("ThrottlingException")

    workload.broke_off()
    hook(f"before-parameter-build.dynamodb.{operation}", refuse_once)
    with pytest.raises(Unreconciled):
        workload.run()
    assert workload.told["status"] == "ACCEPTED"
    assert workload.run() == {"handled": 1}
    assert workload.told["status"] == "FAILED"


def test_its_markers_are_no_orders(workload: Workload, dynamodb: "DynamoDBClient") -> None:
    workload.broke_off()
    workload.run()
    kinds = sorted(item["pk"].partition(":")[0] for item in items(dynamodb, ORDERS))
    assert kinds == ["execution", "order"]


def test_its_lines_name_the_order_and_hold_nothing_of_it(workload: Workload, log_lines: Lines) -> None:
    workload.broke_off()
    workload.run()
    (line,) = [line for line in log_lines() if line["message"] == "order failed"]
    assert (line["order_id"], line["execution"]) == ("order-1", workload.execution.arn)
    assert ORDER["payment"]["token"] not in str(log_lines())
