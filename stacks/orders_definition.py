"""The orders workflow as it is deployed, but for the addresses that only a deployment knows."""

from typing import TYPE_CHECKING, Any

from stacks.state_machine_files import filled, numbers, parsed

if TYPE_CHECKING:  # the settings' own rules measure this definition
    from stacks.settings.orders import OrdersSettings

# Left for CloudFormation: `definition_substitutions` of the state machine.
DEPLOYED = ("BeginOrderArn", "ChargePaymentArn", "ProvisionItemArn", "FinishOrderArn")


def orders_definition(settings: "OrdersSettings") -> dict[str, Any]:
    """`statemachines/orders.asl.json`, parsed, with the numbers and the retry rule of `settings` in it."""
    return filled("orders.asl.json", _values(settings), left=DEPLOYED)


def _values(settings: "OrdersSettings") -> dict[str, Any]:
    functions, workflow = settings.functions, settings.workflow
    return {
        **numbers(workflow),
        "BeginOrderTimeoutSeconds": settings.task_timeout_seconds(functions.begin_order),
        "ChargePaymentTimeoutSeconds": settings.task_timeout_seconds(functions.charge_payment),
        "ProvisionItemTimeoutSeconds": settings.task_timeout_seconds(functions.provision_item),
        "FinishOrderTimeoutSeconds": settings.task_timeout_seconds(functions.finish_order),
        "InProgressIntervalSeconds": workflow.in_progress_interval_seconds,
        "InProgressAttempts": settings.in_progress_attempts,
        "ProvisioningConcurrency": workflow.provisioning_concurrency,
        "TaskRetry": parsed("order_task_retry.json"),
    }
