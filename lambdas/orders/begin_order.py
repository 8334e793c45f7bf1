"""State BeginOrder: says that the order runs, unless its record is somebody else's by now."""

from typing import Any

import wiring
from orders.order_table import orders
from telemetry import log


class Superseded(Exception):  # noqa: N818 - Step Functions matches on it
    """The record is gone or another order's: nobody waits for this one, so no task of it may begin."""


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: Any) -> None:
    if not orders().begin(event["requestId"], event["orderId"], now=wiring.clock()):
        raise Superseded(event["orderId"])
