"""Settings as the orders functions read them: text in environment variables, durations in seconds."""

from stacks.environment import for_a_downstream
from stacks.settings import OrdersSettings


def for_the_orders(s: OrdersSettings, *, orders_table: str) -> dict[str, str]:
    """What each function needs that reads or writes an order's record."""
    return {"ORDERS_TABLE": orders_table, "RETENTION_SECONDS": str(s.retention_seconds)}


def for_accept_order(s: OrdersSettings, *, orders_table: str, state_machine_arn: str) -> dict[str, str]:
    return {**for_the_orders(s, orders_table=orders_table), "STATE_MACHINE_ARN": state_machine_arn}


def for_charge_payment(s: OrdersSettings, *, tasks_table: str) -> dict[str, str]:
    return {
        **_for_a_task(s, tasks_table=tasks_table),
        **for_a_downstream("PAYMENT", url=s.payment_url, deadline_seconds=s.payment_deadline_seconds),
    }


def for_provision_item(s: OrdersSettings, *, tasks_table: str) -> dict[str, str]:
    return {
        **_for_a_task(s, tasks_table=tasks_table),
        **for_a_downstream(
            "PROVISIONING", url=s.provisioning_url, deadline_seconds=s.provisioning_deadline_seconds
        ),
    }


def for_the_reconciler(
    s: OrdersSettings, *, orders_table: str, tasks_table: str, state_machine_arn: str
) -> dict[str, str]:
    return {
        **for_the_orders(s, orders_table=orders_table),
        "TASKS_TABLE": tasks_table,
        "STATE_MACHINE_ARN": state_machine_arn,
        "MACHINE_TIMEOUT_SECONDS": str(s.workflow.timeout_seconds),
        "SETTLE_SECONDS": str(s.settle_seconds),
    }


def _for_a_task(s: OrdersSettings, *, tasks_table: str) -> dict[str, str]:
    return {
        "TASKS_TABLE": tasks_table,
        "TASK_RETENTION_SECONDS": str(s.task_retention_seconds),
        "MARGIN_SECONDS": str(s.margin_seconds),
    }
