"""GET /v1/orders/{key}: what has become of the caller's own order under this key."""

import json
from typing import Any

import wiring
from orders import caller
from orders.endpoint import answered
from orders.idempotency_key import is_key
from orders.order_table import orders
from orders.problem import Kind, Problem
from orders.records import Order, Orders, Request
from orders.response import Response
from telemetry import log


def status(event: dict[str, Any], *, records: Orders, now: int) -> Response:
    """Another caller's order, an expired one and one that never was are answered alike. Raises Problem."""
    key = (event.get("pathParameters") or {}).get("key") or ""
    owner = caller.of(event)
    order = records.read(Request(caller=owner, key=key), now=now) if is_key(key) else None
    if order is None:
        raise Problem(Kind.NOT_FOUND, "It was never accepted, or is no longer kept: POST it.")
    return Response(
        status=200, body=json.dumps(_described(order)), headers={"Content-Type": "application/json"}
    )


def _described(order: Order) -> dict[str, Any]:
    parts = {"result": order.result, "tasks": order.tasks}
    return {
        "id": order.id,
        "status": order.status,
        **({"reason": order.reason} if order.reason else {}),
        **{name: json.loads(text) for name, text in parts.items() if text is not None},
    }


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    return answered(lambda: status(event, records=orders(), now=wiring.clock()))
