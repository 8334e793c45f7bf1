"""How a stage is: are events flowing, is anything stuck, what waits for a person."""

from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from idempotency.model import NEEDS_ATTENTION
from ops import desk
from ops.desk import Desk, Place
from ops.executions import MOST, Executions
from ops.stage import Stack

_WAITING = "ApproximateNumberOfMessages"
_IN_FLIGHT = "ApproximateNumberOfMessagesNotVisible"
_OLDEST_WITHIN = timedelta(minutes=15)


def status(at: Desk, *, scan: bool) -> list[dict[str, Any]]:
    """One entry a stack. `scan` reads whole stores: for what is past its lease, and for registrations."""
    return [_of(at, stack, scan=scan) for stack in at.stacks]


def _of(at: Desk, stack: Stack, *, scan: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"stack": stack.name, "workload": stack.workload}
    for name, output in (("queue", "QueueUrl"), ("dead_letters", "DeadLetterQueueUrl")):
        if output in stack.outputs:
            found[name] = _queue(at, stack.outputs[output])
    if stack.has_ledger:
        found["records"] = _records(at.place(stack), scan=scan)
    executions: Executions | None = at.executions(stack)
    if executions:
        found["executions"] = executions.counts()
    return found


def _records(place: Place, *, scan: bool) -> dict[str, int] | None:
    """None where nothing can be counted without reading everything."""
    records, now = place.workload.records, desk.clock()
    if not (scan or records.indexed):
        return None
    counts = {state.value: records.count(state, now=now) for state in sorted(NEEDS_ATTENTION)}
    if scan:
        abandoned = records.abandoned(now=now, margin=place.workload.margin)
        counts["past their lease"] = sum(1 for _ in abandoned)
    return counts


def _queue(at: Desk, url: str) -> dict[str, Any]:
    answer = at.aws.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=[_WAITING, _IN_FLIGHT])[
        "Attributes"
    ]
    return {
        "waiting": int(answer[_WAITING]),
        "in_flight": int(answer[_IN_FLIGHT]),
        "oldest_seconds": _oldest(at, url.rpartition("/")[2]),
    }


def _oldest(at: Desk, queue: str) -> int | None:
    """Age of the oldest message, which SQS tells to CloudWatch only; None while there is no figure."""
    now = datetime.fromtimestamp(desk.clock(), UTC)
    points = at.aws.client("cloudwatch").get_metric_statistics(
        Namespace="AWS/SQS",
        MetricName="ApproximateAgeOfOldestMessage",
        Dimensions=[{"Name": "QueueName", "Value": queue}],
        StartTime=now - _OLDEST_WITHIN,
        EndTime=now,
        Period=60,
        Statistics=["Maximum"],
    )["Datapoints"]
    return int(max(points, key=lambda point: point["Timestamp"])["Maximum"]) if points else None


def show(found: list[dict[str, Any]], console: Console) -> None:
    table = Table(title="what flows, what is stuck, what waits for a person", title_justify="left")
    for column in ("stack", "queue", "dead letters", "records", "executions\n(ended: within a day)"):
        table.add_column(column)
    for each in found:
        table.add_row(
            each["stack"],
            _said(each.get("queue")),
            _said(each.get("dead_letters"), alarming=True),
            _counted(each.get("records")),
            _counted(each.get("executions")),
        )
    console.print(table)


def _said(queue: dict[str, Any] | None, *, alarming: bool = False) -> Text:
    if queue is None:
        return Text("-")
    age = "" if queue["oldest_seconds"] is None else f"\noldest {queue['oldest_seconds']} s"
    text = f"{queue['waiting']} waiting\n{queue['in_flight']} in flight{age}"
    return Text(text, style="bold red" if alarming and queue["waiting"] else "")


def _counted(counts: dict[str, int] | None) -> str:
    if counts is None:
        return "-"
    said = [f"{name} {number}{'+' if number == MOST else ''}" for name, number in counts.items() if number]
    return "\n".join(said) or "none"
