"""Orders under chaos: their clients ask until they are answered, while what the functions call fails."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from orders.records import Request
from sandbox.chaos.blowing import Blowing
from sandbox.chaos.operation import Arm
from sandbox.chaos.orders_placed import Placed
from sandbox.chaos.reconciling import reconcile
from sandbox.demo.beside import beside
from sandbox.demo.orders_callers import USERS
from sandbox.demo.orders_client import Reply
from sandbox.demo.orders_plan import Kind, PlannedOrder
from sandbox.demo.orders_refusals import Refused
from sandbox.demo.orders_storm import CLIENTS, OrdersStorm
from sandbox.demo.orders_story import OrderStory
from sandbox.deployment import ACCOUNT

BROKEN = "key of a broken body"

_ASKED_AT_MOST = 30

R = TypeVar("R", bound=Reply | None)


class OrdersChaos(Blowing[PlannedOrder], OrdersStorm):
    functions = (
        "AcceptOrder",
        "OrderStatus",
        "BeginOrder",
        "ChargePayment",
        "ProvisionItem",
        "FinishOrder",
        "Reconciler",
    )

    def _unfold(self) -> None:
        with ThreadPoolExecutor(CLIENTS, thread_name_prefix="client") as self._crowd:
            self._take_turns()
            self.doing = "one operation after the other fails"
            together = list(self.campaign.armed(Arm.SENDING))
            for each in together:
                for order in each.events:
                    self.weather.arm(each, self._placed(order))
            together += self.campaign.armed(Arm.RECONCILING)
            self._all(self._ask, [order for each in together for order in each.events])
            self._follow()
            reconciled = beside(self._reconcile)
            if self.campaign.at_random.events:
                with self._going_at_random():
                    self._all(self._ask, self.campaign.at_random.events)
                    self._look_for(self.at_random_seconds)
            self._follow()
            reconciled.result()
            if self._settled():
                self.problems += reconcile(self._orders)
            self.doing = "retrying what has ended"
            self._all(lambda order: self._post(order, order.body), self.campaign.later)
            self._all(self._look, self._events)
        self.doing = "at rest"

    def _take_turns(self) -> None:
        self.doing = "operations fail whose calls don't tell the order, one order at a time"
        before: list[str] = []
        for each in self.campaign.armed(Arm.IN_TURN):
            for order in each.events:
                ordered = self.weather.arm(each, self._placed(order, others=tuple(before)))
                self._ask(order)
                if not self.weather.met(each.fault, ordered):
                    self.problems.append(f"{order.id}: never met {each.name}")
                before += self._task_records(order)

    def _look_for(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (open_ := self._open()) and time.monotonic() < deadline:
            self._all(self._look, open_)
            time.sleep(0.5)

    def _open(self) -> list[PlannedOrder]:
        """Of those that were asked for yet."""
        return [order for order in super()._open() if self._posted[order.id]]

    def _post(self, order: PlannedOrder, body: str, *, hang_up: bool = False) -> Reply | None:
        """Asks until it is answered: an outage is no answer, whether or not anything came of the request."""
        return _answered(lambda: super(OrdersChaos, self)._post(order, body, hang_up=hang_up))

    def _reply_to(self, refused: Refused) -> Reply:
        return _answered(lambda: super(OrdersChaos, self)._reply_to(refused))

    def _reconcile(self) -> None:
        """Its runs fail until all faults are used up, and then tell of every end."""
        arns = [execution["executionArn"] for execution in self._settled()]
        executions = {self._orders.input_of(arn)["payment"]["token"]: arn for arn in arns}
        for each in self.campaign.armed(Arm.RECONCILING):
            for order in each.events:
                if order.id in executions:
                    self.weather.arm(each, self._placed(order, execution=executions[order.id]))
        self.problems += reconcile(self._orders)

    def _story(self, **told: Any) -> OrderStory:
        """Whatever it was planned to do, an order may fail here, if its caller is told the truth of it.

        Whoever heard of an outage heard nothing.
        """
        posted = [replace(each, reply=None) if _outage(each.reply) else each for each in told["posted"]]
        seen = [reply for reply in told["seen"] if not _outage(reply)]
        story = super()._story(**told | {"posted": posted, "seen": seen})
        if story.status != "FAILED":
            return story
        return replace(story, order=replace(story.order, kind=Kind.UNLUCKY))

    def _placed(self, order: PlannedOrder, **more: Any) -> Placed:
        return Placed(
            order=order,
            request=Request(caller=self._caller_ids[order.caller], key=order.key),
            tasks_table=self._orders.outputs["TasksTableName"],
            **more,
        )

    def _task_records(self, order: PlannedOrder) -> list[str]:
        """Of an order that was accepted."""
        replies = (posted.reply for posted in self._posted[order.id])
        ids = {str(reply.json["id"]) for reply in replies if reply and not _outage(reply)}
        return [record for id_ in ids for record in self._placed(order).task_records(id_)]

    @cached_property
    def _caller_ids(self) -> dict[str, str]:
        """As the functions know them."""
        return {user: f"user:{ACCOUNT}:{self._orders.user_id(user)}" for user in USERS}


def _outage(reply: Reply | None) -> bool:
    return reply is not None and reply.status >= 500


def _answered(ask: Callable[[], R]) -> R:
    for _ in range(_ASKED_AT_MOST):
        if not _outage(reply := ask()):
            break
        time.sleep(0.5)
    return reply
