"""State ProvisionItem, for each line item: provisions it, once per execution."""

from typing import Any

import wiring
from orders.tasks import attempt_of, perform, task_key
from telemetry import log

TASK = "provision-item"


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: Any) -> dict[str, str]:
    return perform(
        task_key(event["execution"], TASK, event["number"]),
        {"orderId": event["orderId"], **event["item"]},
        downstream=wiring.http_effect("PROVISIONING"),
        attempt=attempt_of(event),
        context=context,
    )
