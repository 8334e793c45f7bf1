"""On a schedule: tells the callers of orders whose executions broke off, and what each task did."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import wiring
from executions.deployed import unfinished_executions
from executions.unfinished import Execution, UnfinishedExecutions
from idempotency.ledger import Clock
from orders.order_table import orders
from orders.records import Orders
from orders.task_states import TaskStates
from telemetry import count, log

# What a caller is told of each end; the causes are ours.
_REASONS = {"FAILED": "a task failed", "TIMED_OUT": "it took too long", "ABORTED": "it was stopped"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    executions: UnfinishedExecutions
    orders: Orders
    tasks: TaskStates
    clock: Clock

    def run(self, *, enough_time: Callable[[], bool]) -> dict[str, int]:
        return self.executions.reconcile(self._tell, enough_time=enough_time)

    def _tell(self, execution: Execution) -> None:
        """FAILED is not for good: whoever redrives the execution may still see the order succeed."""
        order = json.loads(execution["input"])
        told = self.orders.fail(
            order["requestId"],
            order["orderId"],
            now=self.clock(),
            reason=_REASONS[execution["status"]],
            tasks=json.dumps(self.tasks.of(execution, items=len(order["items"]))),
        )
        count("Failed", Status=execution["status"])
        log.warning(
            "order failed",
            order_id=order["orderId"],
            execution=execution["executionArn"],
            status=execution["status"],
            told=told,
        )


@log.inject_lambda_context(clear_state=True)
def handler(_event: dict[str, Any], context: Any) -> dict[str, int]:
    reconciler = Reconciler(
        executions=unfinished_executions(markers=wiring.text("ORDERS_TABLE")),
        orders=orders(),
        tasks=TaskStates(
            stepfunctions=wiring.client("stepfunctions"),
            dynamodb=wiring.client("dynamodb"),
            table=wiring.text("TASKS_TABLE"),
        ),
        clock=wiring.clock,
    )
    # Describe, pages of the history, the tasks' records in two calls, fail, mark.
    worst_case = 10 * wiring.number("SDK_CALL_SECONDS")
    return reconciler.run(enough_time=lambda: context.get_remaining_time_in_millis() / 1000 > worst_case)
