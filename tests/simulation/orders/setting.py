"""What a seed chooses of a world of orders, and the settings of its functions and its workflow."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacks.settings import OrdersSettings
from stacks.settings.orders import OrdersFunctions, OrdersWorkflow
from stacks.settings.workload import FunctionSettings
from tests.simulation.scheduler import Scheduler
from tests.statemachines.definition import resolved_orders

ORDERS, TASKS, MACHINE = "orders", "tasks", "machine"
SDK_ATTEMPTS, CALL_SECONDS = 2, 3
MARGIN, DAY = 10, 86_400  # seconds
LONGEST_STALL = 20
OVERRUN = 1  # seconds for which Lambda may let a function run on after its timeout


@dataclass(frozen=True, slots=True)
class Setting:
    """Seconds; `skew`: by how much a clock is wrong at most; `stops`, `redrives`: shares of executions.

    The shorter retentions are ones that synth refuses: orders expire while their workflows run.
    """

    workflow_timeout: int
    callers: int
    keys: int
    items: int
    retention: int
    task_retention: int
    horizon: int
    skew: int
    rejected: float
    gives_up: float
    stops: float
    redrives: float
    enters_anew: bool
    reconcile_every: int

    @property
    def trusted(self) -> bool:
        """Any two clocks differ by no more than the margin."""
        return 2 * self.skew <= MARGIN

    @classmethod
    def of(cls, scheduler: Scheduler) -> "Setting":
        one_of: Callable[[tuple[Any, ...]], Any] = scheduler.chance.choice
        skew = one_of((0, 4, 4, 60))
        retention = one_of((40 * DAY, 40 * DAY, 600, 240 if skew > MARGIN else 60))
        return cls(
            workflow_timeout=one_of((900, 900, 90)),
            callers=one_of((1, 1, 2, 3)),
            keys=one_of((1, 1, 2)),
            items=one_of((1, 1, 2, 3)),
            retention=retention,
            task_retention=one_of((40 * DAY, 40 * DAY, 120)),
            horizon=one_of((60, 600, retention + 60)),
            skew=skew,
            rejected=one_of((0, 0.02, 0.2)),
            gives_up=one_of((0.05, 0.05, 0.5)),
            stops=one_of((0, 0.5)),
            redrives=one_of((0, 0.5, 0.9)),
            enters_anew=one_of((True, False)),
            reconcile_every=one_of((300, 60, 15)),
        )


@cache
def settings(*, workflow_timeout: int) -> OrdersSettings:
    """Short, so that few steps come to the end of a lease; a hundred items would need longer."""
    function = FunctionSettings(timeout_seconds=20)
    return OrdersSettings(
        payment_url="-",
        provisioning_url="-",
        margin_seconds=MARGIN,
        functions=OrdersFunctions(
            reconciler=FunctionSettings(timeout_seconds=90),
            accept_order=function,
            order_status=function,
            begin_order=function,
            charge_payment=function,
            provision_item=function,
            finish_order=function,
        ),
        workflow=OrdersWorkflow(
            timeout_seconds=workflow_timeout,
            retry_attempts=3,
            retry_max_delay_seconds=10,
            provisioning_concurrency=2,
        ),
    )


@cache
def definition(of: OrdersSettings) -> dict[str, Any]:
    return resolved_orders(of)


def environment(setting: Setting, of: OrdersSettings) -> dict[str, str]:
    """Of every function."""
    return {
        "ORDERS_TABLE": ORDERS,
        "TASKS_TABLE": TASKS,
        "STATE_MACHINE_ARN": MACHINE,
        "RETENTION_SECONDS": str(setting.retention),
        "TASK_RETENTION_SECONDS": str(setting.task_retention),
        "MARGIN_SECONDS": str(of.margin_seconds),
        "MACHINE_TIMEOUT_SECONDS": str(of.workflow.timeout_seconds),
        "SETTLE_SECONDS": str(of.settle_seconds),
        "SDK_CALL_SECONDS": str(CALL_SECONDS),
    }


@cache
def order_body(items: int, amount: str) -> str:
    return json.dumps(
        {
            "payment": {"amount": amount, "currency": "EUR", "token": "tok_1"},
            "items": [{"sku": f"SKU-{number}", "quantity": 1} for number in range(items)],
        }
    )
