"""Chaos over orders: what their functions ask of AWS, and how each of it is brought about."""

import random
import time
from contextlib import ExitStack
from functools import partial
from typing import Any

from sandbox.aws import Sandbox
from sandbox.chaos import calls, campaign
from sandbox.chaos.blowing import blow
from sandbox.chaos.campaign import Order
from sandbox.chaos.operation import Arm, Call, Operation
from sandbox.chaos.orders_storm import BROKEN, OrdersChaos
from sandbox.chaos.report import LOGS
from sandbox.demo.orders import storm_over
from sandbox.demo.orders_callers import USERS
from sandbox.demo.orders_plan import Kind, OrdersPlan, PlannedOrder, kinds
from sandbox.demo.progress import Progress

_LEFT_OUT = (Kind.KILLED, Kind.STOPPED, Kind.LARGE)  # who is killed is left to chance


def _of_record(name: str, use: str, call: Call) -> Operation:
    return Operation(service="dynamodb", name=name, use=use, kind=Kind.ACCEPTED, call=call)


def _of_task(name: str, use: str, kind: Kind) -> Operation:
    """Of a task's record, whose id no request tells before its order was accepted."""
    return Operation(
        service="dynamodb",
        name=name,
        use=f"task: {use}",
        kind=kind,
        call=lambda placed: placed.another_task,
        arm=Arm.IN_TURN,
    )


_of_reconciler = partial(calls.of_reconciler, kind=Kind.REJECTED)


def _status(status: str) -> Call:
    """The UpdateItem that says it of an order."""
    return lambda placed: f"{placed.record} && ExpressionAttributeValues.\":status\".S == '{status}'"


OPERATIONS = (
    _of_record("PutItem", "acceptance", lambda placed: f"Item.key.S == '{placed.order.key}'"),
    _of_record("GetItem", BROKEN, lambda placed: placed.record),
    _of_record("GetItem", "status", lambda placed: placed.record),
    Operation(
        service="stepfunctions",
        name="StartExecution",
        use="start",
        kind=Kind.ACCEPTED,
        call=lambda placed: f"contains(input, '\"{placed.order.id}\"')",
    ),
    _of_record("UpdateItem", "begin", _status("RUNNING")),
    _of_record("UpdateItem", "finish", _status("SUCCEEDED")),
    _of_task("PutItem", "claim", Kind.ACCEPTED),
    _of_task("UpdateItem", "complete", Kind.ACCEPTED),
    _of_task("DeleteItem", "give back", Kind.BUSY),
    _of_reconciler("stepfunctions", "ListExecutions", "ends", calls.any_of_them),
    _of_reconciler(
        "dynamodb", "BatchGetItem", "ends dealt with", lambda _end: "contains(to_string(@), 'handled#')"
    ),
    _of_reconciler("stepfunctions", "DescribeExecution", "input", lambda end: end.its_execution),
    _of_reconciler("stepfunctions", "GetExecutionHistory", "tasks", lambda end: end.its_execution),
    _of_reconciler("dynamodb", "BatchGetItem", "tasks", lambda end: end.payment),
    _of_reconciler("dynamodb", "UpdateItem", "fail", _status("FAILED")),
    _of_reconciler("dynamodb", "PutItem", "marker", lambda end: end.marker),
)


def run(*, order: Order, progress: Progress) -> dict[str, Any]:
    """The report of this workload. Bounded in time; leaves nothing running."""
    begun = time.monotonic()
    chance = random.Random(order.seed)  # noqa: S311 - to repeat, not a secret
    drawn = campaign.draw(OPERATIONS, _order, _kinds, order=order, chance=chance)
    plan = OrdersPlan(
        events=drawn.events,
        overlapping=drawn.overlapping,
        later=drawn.later,
        contested=(),
        altered=(),
        clumsy=tuple(event for each in drawn.rounds if each.operation.use == BROKEN for event in each.events),
        pried_into=(),
    )
    with ExitStack() as started:
        progress.step("orders: starting the AWS on this machine")
        sandbox = started.enter_context(Sandbox(faults=True, logs=LOGS / "orders"))
        progress.step("deploying with cdk deploy")
        storm = storm_over(plan, sandbox, started, storm=OrdersChaos)
        storm.prepare(drawn, OPERATIONS, sandbox.faults, chance)
        report = blow({"orders": storm}, sandbox, progress)
    return {
        "workload": "orders",
        "seed": order.seed,
        "seconds": round(time.monotonic() - begun, 1),
        **report,
    }


def _order(number: int, kind: Kind) -> PlannedOrder:
    return PlannedOrder(
        id=f"O-{number:04}",
        kind=kind,
        caller=USERS[number % len(USERS)],
        key=f"chaos-order-{number:04}",
        items=1 + number % 2,
    )


def _kinds(events: int, chance: random.Random) -> list[Kind]:
    return [Kind.SLOW if kind in _LEFT_OUT else kind for kind in kinds(events, chance)]
