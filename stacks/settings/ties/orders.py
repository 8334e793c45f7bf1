"""What ties the settings of orders to each other."""

from math import ceil

from stacks.longest_run import longest_run_seconds
from stacks.orders_definition import orders_definition
from stacks.settings.orders import MAX_ITEMS, OrdersSettings
from stacks.settings.rule import Rule, above, at_least
from stacks.settings.ties.workflow import WORKFLOW_TIES
from stacks.settings.workload import DAY_SECONDS

LONGEST_HISTORY = 24_999  # events (Step Functions: RedriveExecution)
REDRIVABLE_DAYS = 14  # Step Functions: RedriveExecution, after an execution's end

# Calls to AWS at most in one invocation.
EDGE_CALLS = 2  # record, then start
TASK_CALLS = 4  # claim, again where the record in its way is just expiring; complete, again without result
RECONCILER_CALLS = 12  # a page, its markers, then one order: the ten that orders.reconciler allows for


def _acceptance(s: OrdersSettings) -> float:
    return EDGE_CALLS * s.sdk.worst_call_seconds


def _call(s: OrdersSettings) -> float:
    return s.sdk.worst_call_seconds


def _payment(s: OrdersSettings) -> float:
    return TASK_CALLS * s.sdk.worst_call_seconds + s.payment_deadline_seconds


def _provisioning(s: OrdersSettings) -> float:
    return TASK_CALLS * s.sdk.worst_call_seconds + s.provisioning_deadline_seconds


def _reconciliation(s: OrdersSettings) -> float:
    return RECONCILER_CALLS * s.sdk.worst_call_seconds


def _execution(s: OrdersSettings) -> float:
    return longest_run_seconds(orders_definition(s), most_items=MAX_ITEMS)


def _last_retry(s: OrdersSettings) -> int:
    return s.retry_window_days + REDRIVABLE_DAYS + ceil(2 * s.workflow.timeout_seconds / DAY_SECONDS)


def _last_redrive(s: OrdersSettings) -> int:
    return REDRIVABLE_DAYS + ceil(s.workflow.timeout_seconds / DAY_SECONDS)


def _events(s: OrdersSettings) -> int:
    """Of an execution in which every try of every item is used up: scheduled, started, ended."""
    tries = 1 + s.workflow.retry_attempts + s.in_progress_attempts
    return 3 * tries * MAX_ITEMS + 500


ORDERS_TIES = (
    Rule(
        setting="workflow.in_progress_interval_seconds",
        holds=lambda s: _events(s) < LONGEST_HISTORY,
        allowed=lambda _: f"longer: {LONGEST_HISTORY:,} events of a history are too many for a redrive",
    ),
    at_least(
        "retention_days", _last_retry, "retry window + 14 days for redrives + 2 * workflow timeout, in days"
    ),
    at_least("task_retention_days", _last_redrive, "workflow timeout + 14 days for redrives, in days"),
    above("functions.accept_order.timeout_seconds", _acceptance, f"{EDGE_CALLS} calls"),
    above("functions.order_status.timeout_seconds", _call, "a call"),
    above("functions.begin_order.timeout_seconds", _call, "a call"),
    above("functions.charge_payment.timeout_seconds", _payment, f"{TASK_CALLS} calls + payment deadline"),
    above(
        "functions.provision_item.timeout_seconds",
        _provisioning,
        f"{TASK_CALLS} calls + provisioning deadline",
    ),
    above("functions.finish_order.timeout_seconds", _call, "a call"),
    above("functions.reconciler.timeout_seconds", _reconciliation, f"{RECONCILER_CALLS} calls"),
    *WORKFLOW_TIES,
    above("workflow.timeout_seconds", _execution, "the slowest path through orders.asl.json"),
)
