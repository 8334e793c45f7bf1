"""The functions' roles are enforced: each may do its part of an order, and nothing beside."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from sandbox import deployment
from tests.sandbox.orders_api import DeployedOrders

Call = Callable[["Role"], object]
ANYTHING = {"pk": {"S": "order:anything"}, "sk": {"S": "request"}}


class Role:
    """May do what the role of the function with this construct id may."""

    def __init__(self, orders: DeployedOrders, function: str) -> None:
        self._endpoint = orders.sandbox.endpoint
        self._credentials = orders.sandbox.client("sts").assume_role(
            RoleArn=orders.deployment.configuration(function)["Role"], RoleSessionName="test"
        )["Credentials"]
        self.orders = orders.outputs["OrdersTableName"]
        self.tasks = orders.outputs["TasksTableName"]
        self.machine = orders.outputs["StateMachineArn"]
        self.other_machine = f"{self.machine}-2"

    def client(self, service: str) -> Any:
        return boto3.client(
            service,  # type: ignore[call-overload] # any service
            endpoint_url=self._endpoint,
            region_name=deployment.REGION,
            aws_access_key_id=self._credentials["AccessKeyId"],
            aws_secret_access_key=self._credentials["SecretAccessKey"],
            aws_session_token=self._credentials["SessionToken"],
        )

    @property
    def dynamodb(self) -> Any:
        return self.client("dynamodb")

    @property
    def stepfunctions(self) -> Any:
        return self.client("stepfunctions")

    def put(self, table: str) -> object:
        return self.dynamodb.put_item(TableName=table, Item={**ANYTHING, "id": {"S": "anything"}})

    def get(self, table: str) -> object:
        return self.dynamodb.get_item(TableName=table, Key=ANYTHING)

    def update(self, table: str) -> object:
        return self.dynamodb.update_item(TableName=table, Key=ANYTHING)

    def delete(self, table: str) -> object:
        return self.dynamodb.delete_item(TableName=table, Key=ANYTHING)

    def execution_of(self, machine: str) -> str:
        return f"{machine.replace(':stateMachine:', ':execution:')}:anything"


def start(role: Role, machine: str) -> object:
    return role.stepfunctions.start_execution(stateMachineArn=machine, name="anything", input="{}")


TASKS = ("ChargePayment", "ProvisionItem")
TELLERS = ("BeginOrder", "FinishOrder")

DENIED: dict[str, tuple[tuple[str, ...], Call]] = {
    "changes a record": (("AcceptOrder", "OrderStatus", *TASKS), lambda r: r.update(r.orders)),
    "writes a record": (("OrderStatus", *TELLERS, *TASKS), lambda r: r.put(r.orders)),
    "reads a record": ((*TELLERS, *TASKS, "Reconciler"), lambda r: r.get(r.orders)),
    "deletes a record": (
        ("AcceptOrder", "OrderStatus", *TELLERS, *TASKS, "Reconciler"),
        lambda r: r.delete(r.orders),
    ),
    "reads all records": (
        ("AcceptOrder", "OrderStatus", *TELLERS, *TASKS, "Reconciler"),
        lambda r: r.dynamodb.scan(TableName=r.orders),
    ),
    "claims a task": (("AcceptOrder", "OrderStatus", *TELLERS, "Reconciler"), lambda r: r.put(r.tasks)),
    "forgets a task": (("AcceptOrder", "OrderStatus", *TELLERS, "Reconciler"), lambda r: r.delete(r.tasks)),
    "reads all tasks": (
        ("AcceptOrder", "OrderStatus", *TELLERS, *TASKS, "Reconciler"),
        lambda r: r.dynamodb.scan(TableName=r.tasks),
    ),
    "writes into another table": (
        ("AcceptOrder", *TELLERS, *TASKS, "Reconciler"),
        lambda r: r.put("another"),
    ),
    "starts an execution": (
        ("OrderStatus", *TELLERS, *TASKS, "Reconciler"),
        lambda r: start(r, r.machine),
    ),
    "starts another machine's execution": (("AcceptOrder",), lambda r: start(r, r.other_machine)),
    "stops an execution": (
        ("AcceptOrder", "OrderStatus", *TELLERS, *TASKS, "Reconciler"),
        lambda r: r.stepfunctions.stop_execution(executionArn=r.execution_of(r.machine)),
    ),
    "lists executions": (
        ("AcceptOrder", "OrderStatus", *TELLERS, *TASKS),
        lambda r: r.stepfunctions.list_executions(stateMachineArn=r.machine),
    ),
    "lists another machine's executions": (
        ("Reconciler",),
        lambda r: r.stepfunctions.list_executions(stateMachineArn=r.other_machine),
    ),
    "reads another machine's execution": (
        ("Reconciler",),
        lambda r: r.stepfunctions.get_execution_history(executionArn=r.execution_of(r.other_machine)),
    ),
}


@pytest.mark.parametrize(
    ("function", "case"), [(function, case) for case in DENIED for function in DENIED[case][0]]
)
def test_no_function_goes_beyond_its_part(orders: DeployedOrders, function: str, case: str) -> None:
    _, call = DENIED[case]
    with pytest.raises(ClientError) as denied:
        call(Role(orders, function))
    assert denied.value.response["Error"]["Code"] in ("AccessDenied", "AccessDeniedException")
