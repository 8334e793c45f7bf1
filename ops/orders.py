"""Orders as an operator sees them: what gets stuck is an execution; the record tells its caller."""

from typing import Any

from ops import desk
from ops.audit import when
from ops.desk import Desk
from ops.executions import UNFINISHED, Execution, input_of
from ops.stage import Stack
from orders.records import Request, Status

_LOOKED_AT = 50  # executions of each status

_WORDS = {
    Status.ACCEPTED: "accepted, and not begun: its client's next POST starts it",
    Status.RUNNING: "running",
    Status.SUCCEEDED: "done",
    Status.FAILED: "failed, which its caller is told; a redrive of its execution resumes at the failed task",
}


def stuck(at: Desk, stack: Stack) -> list[dict[str, Any]]:
    """Executions that broke off within a day. One that was redriven runs, and is none."""
    executions = at.executions(stack)
    if executions is None:
        return []
    return [
        _ended(stack, ended) for status in UNFINISHED for ended in executions.latest(status, most=_LOOKED_AT)
    ]


def story(at: Desk, stack: Stack, text: str, *, scan: bool) -> dict[str, Any] | None:
    """Of the order whose execution has this name, or, with `scan`, whose id or Idempotency-Key it is."""
    executions = at.executions(stack)
    item = _by_execution(at, stack, text) or (_by_scan(at, stack, text) if scan else None)
    if item is None or executions is None or int(item["expiresAt"]["N"]) <= desk.clock():
        return None
    request = Request(caller=item["caller"]["S"], key=item["key"]["S"])
    name = request.execution_name(item["orderId"]["S"])
    status, at_time = Status(item["status"]["S"]), when(int(item["updatedAt"]["N"]))
    tasks = f" Its tasks: {item['tasks']['S']}" if "tasks" in item else ""
    return {
        "stack": stack.name,
        "key": item["orderId"]["S"],
        "state": status.value,
        "caller": request.caller,
        "idempotency_key": request.key,
        "execution": executions.told(executions.arn(name)),
        "in_words": f"Order {item['orderId']['S']} is {_WORDS[status]} ({at_time}).{tasks}",
        "result": item["result"]["S"] if "result" in item else None,
    }


def _ended(stack: Stack, execution: Execution) -> dict[str, Any]:
    at, status = int(execution["stopDate"].timestamp()), execution["status"]
    told = (
        "its caller is told that it failed. `aws stepfunctions redrive-execution` resumes at the failed task."
    )
    return {
        "stack": stack.name,
        "key": execution["name"],
        "state": status,
        "updated_at": at,
        "owner": execution["executionArn"],
        "in_words": f"Its execution {status} at {when(at)}: {told}",
    }


def _by_execution(at: Desk, stack: Stack, name: str) -> dict[str, Any] | None:
    executions = at.executions(stack)
    described = executions.described(executions.arn(name)) if executions else None
    if described is None:
        return None
    request = input_of(described)["requestId"]
    found = at.aws.client("dynamodb").get_item(
        TableName=stack.outputs["OrdersTableName"],
        Key={"pk": {"S": f"order:{request}"}, "sk": {"S": "request"}},
        ConsistentRead=True,
    )
    item: dict[str, Any] | None = found.get("Item")
    return item


def _by_scan(at: Desk, stack: Stack, text: str) -> dict[str, Any] | None:
    pages = (
        at.aws.client("dynamodb")
        .get_paginator("scan")
        .paginate(
            TableName=stack.outputs["OrdersTableName"],
            FilterExpression="orderId = :text OR #key = :text",
            ExpressionAttributeNames={"#key": "key"},
            ExpressionAttributeValues={":text": {"S": text}},
        )
    )
    return next((dict(item) for page in pages for item in page["Items"]), None)
