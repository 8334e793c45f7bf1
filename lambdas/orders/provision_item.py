"""State ProvisionItem, for each line item: provisions it, once per execution."""

from typing import Any

import wiring
from orders.task_records import PROVISION_ITEM, task_key
from orders.tasks import attempt_of, perform
from telemetry import log


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: Any) -> dict[str, str]:
    return perform(
        task_key(event["execution"], PROVISION_ITEM, event["number"]),
        {"orderId": event["orderId"], **event["item"]},
        downstream=wiring.http_effect("PROVISIONING"),
        attempt=attempt_of(event),
        context=context,
    )
