"""An order as the functions know it, for faults that meet no other order's calls."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from orders.records import Request
from orders.task_records import CHARGE_PAYMENT, PROVISION_ITEM, record_id, task_key
from sandbox.demo.orders_plan import PlannedOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """`others` are the task records of orders before it; `execution` is the ARN of its own, once known."""

    order: PlannedOrder
    request: Request
    tasks_table: str
    others: Sequence[str] = field(default=())
    execution: str = ""

    @property
    def record(self) -> str:
        """A call for its record."""
        return f"Key.pk.S == 'order:{self.request.id}'"

    @property
    def another_task(self) -> str:
        """A call for the record of a task that is none of the others'."""
        others = json.dumps(list(self.others))
        return f"TableName == '{self.tasks_table}' && !contains(`{others}`, Item.id.S || Key.id.S)"

    @property
    def payment(self) -> str:
        """A call that is about the record of its payment, among others."""
        task = task_key(self.execution.rpartition(":")[2], CHARGE_PAYMENT)
        return f"contains(to_string(@), '{record_id(task)}')"

    @property
    def its_execution(self) -> str:
        """A call for its execution."""
        return f"executionArn == '{self.execution}'"

    @property
    def marker(self) -> str:
        """A call for the marker of its execution's end."""
        return f"Item.pk.S == 'execution:{self.execution}'"

    def task_records(self, id_: str) -> list[str]:
        """Their ids, once the order has one itself."""
        execution = self.request.execution_name(id_)
        items = (task_key(execution, PROVISION_ITEM, number) for number in range(self.order.items))
        return [record_id(key) for key in (task_key(execution, CHARGE_PAYMENT), *items)]
