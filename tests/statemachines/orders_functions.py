"""The workflow's four functions, wired as in Lambda, each behind a script of how it behaves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

from orders import begin_order, charge_payment, finish_order, provision_item
from stacks.settings import OrdersSettings
from tests.statemachines.faults import CRASH, Script
from tests.statemachines.orders_downstream import Dies

Payload = dict[str, Any]

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Context:
    """Of an invocation that has its function's whole time before it."""

    seconds: int
    function_name: str = "-"
    memory_limit_in_mb: str = "-"
    invoked_function_arn: str = "-"
    aws_request_id: str = "-"

    def get_remaining_time_in_millis(self) -> int:
        return self.seconds * 1000


@dataclass
class Function:
    """`script` plays each of its invocations; what reaches the handler is the play's business."""

    handler: Callable[[Payload, Any], Any]
    context: Context
    script: Script = field(default_factory=Script)
    calls: list[Payload] = field(default_factory=list)


class OrderFunctions:
    def __init__(self, settings: OrdersSettings) -> None:
        made, seconds = Function, settings.functions
        self.begin_order = made(begin_order.handler, Context(seconds.begin_order.timeout_seconds))
        self.charge_payment = made(charge_payment.handler, Context(seconds.charge_payment.timeout_seconds))
        self.provision_item = made(provision_item.handler, Context(seconds.provision_item.timeout_seconds))
        self.finish_order = made(finish_order.handler, Context(seconds.finish_order.timeout_seconds))
        self._at_work = 0
        self._changed = Condition()

    def invoke(self, name: str, payload: Payload) -> Any:
        function = {
            "BeginOrder": self.begin_order,
            "ChargePayment": self.charge_payment,
            "ProvisionItem": self.provision_item,
            "FinishOrder": self.finish_order,
        }[name]
        function.calls.append(payload)
        self._count(1)
        try:
            return function.script.play(lambda: function.handler(payload, function.context))
        except Dies:
            raise CRASH from None
        finally:
            self._count(-1)

    def wait_until_idle(self) -> None:
        """An invocation outlives its execution: Lambda does not hear of the execution's end."""
        self.wait_until_at_work(0)

    def wait_until_at_work(self, number: int) -> None:
        """So many invocations and no more."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._at_work == number, _PATIENCE_SECONDS)

    def _count(self, change: int) -> None:
        with self._changed:
            self._at_work += change
            self._changed.notify_all()
