"""State FinishOrder: says that the order succeeded, and with what result."""

import json
from typing import Any

import wiring
from orders.order_table import orders
from telemetry import count, log


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: Any) -> None:
    """A record that is gone or another order's by now stays so."""
    result = json.dumps(event["result"], separators=(",", ":"))
    if orders().finish(event["requestId"], event["orderId"], now=wiring.clock(), result=result):
        count("Succeeded")
    else:
        log.warning("nobody waits for this order any more", order_id=event["orderId"])
