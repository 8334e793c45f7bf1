"""POST /v1/orders: one order per caller and key, however often and however parallel it is asked for."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import wiring
from idempotency.ledger import Clock
from orders import body, caller, idempotency_key
from orders.endpoint import answered
from orders.order_table import orders
from orders.problem import Kind, Problem
from orders.records import Order, Orders, Request, Status
from orders.response import Response
from telemetry import count, log


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """Record first, then the workflow's start: a crash between the two is healed by any retry."""

    orders: Orders
    stepfunctions: Any
    machine: str
    clock: Clock
    new_order_id: Callable[[], str]

    def accept(self, event: dict[str, Any]) -> Response:
        """Raises Problem, and what AWS raises."""
        request = Request(caller=caller.of(event), key=idempotency_key.from_headers(event))
        sent = body.raw(event)
        digest = body.digest(sent)
        order_id = self.new_order_id()
        try:
            content = body.order_in(sent)
        except Problem:
            # The key is not consumed; but where it was before, that comes first.
            order = self.orders.read(request, now=self.clock())
            if order is None:
                raise
            content = None
        else:
            order = self.orders.accept(
                request,
                order_id=order_id,
                body_hash=digest,
                location=f"{event['requestContext']['path'].rstrip('/')}/{request.key}",
                now=self.clock(),
            )
        answer = self._answer(order, digest, replayed=order.id != order_id)
        if order.status is Status.ACCEPTED:
            # These bytes were an order when they were accepted, whatever the rules are by now.
            self._start(request, order, content or body.parsed(sent))
        return answer

    def _answer(self, order: Order, digest: str, *, replayed: bool) -> Response:
        """The first answer, whatever has become of the order since; to its own body only."""
        if order.body_hash != digest:
            count("Conflicts")
            raise Problem(Kind.KEY_REUSED, "Take a new key for a new order; the bytes of the body decide.")
        count("Replays" if replayed else "Accepted")
        return Response(
            status=202,
            body=json.dumps({"id": order.id, "status": Status.ACCEPTED}),
            headers={
                "Content-Type": "application/json",
                "Location": order.location,
                **({"Idempotency-Replayed": "true"} if replayed else {}),
            },
        )

    def _start(self, request: Request, order: Order, content: dict[str, Any]) -> None:
        """The input is the same for every retry: Step Functions compares it while the execution runs."""
        name = request.execution_name(order.id)
        text = json.dumps({"requestId": request.id, "orderId": order.id, **content}, sort_keys=True)
        try:
            self.stepfunctions.start_execution(stateMachineArn=self.machine, name=name, input=text)
        except self.stepfunctions.exceptions.ExecutionAlreadyExists:
            log.info("already started", order_id=order.id)
        else:
            log.info("started", order_id=order.id)


@cache
def _acceptance() -> Acceptance:
    return Acceptance(
        orders=orders(),
        stepfunctions=wiring.client("stepfunctions"),
        machine=wiring.text("STATE_MACHINE_ARN"),
        clock=wiring.clock,
        new_order_id=lambda: str(uuid.uuid4()),
    )


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    return answered(lambda: _acceptance().accept(event))
