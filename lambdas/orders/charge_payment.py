"""State ChargePayment: charges the order's payment, once per execution."""

from typing import Any

import wiring
from orders.task_records import CHARGE_PAYMENT, task_key
from orders.tasks import attempt_of, perform
from telemetry import log


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: Any) -> dict[str, str]:
    return perform(
        task_key(event["execution"], CHARGE_PAYMENT),
        {"orderId": event["orderId"], **event["payment"]},
        downstream=wiring.http_effect("PAYMENT"),
        attempt=attempt_of(event),
        context=context,
    )
