"""State ChargePayment: charges the order's payment, once per execution."""

from typing import Any

import wiring
from orders.tasks import attempt_of, perform, task_key
from telemetry import log

TASK = "charge-payment"


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: Any) -> dict[str, str]:
    return perform(
        task_key(event["execution"], TASK),
        {"orderId": event["orderId"], **event["payment"]},
        downstream=wiring.http_effect("PAYMENT"),
        attempt=attempt_of(event),
        context=context,
    )
