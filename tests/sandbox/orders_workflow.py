"""Orders under test on their way through the deployed workflow: what both providers and both tables tell."""

import json
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from orders.task_records import CHARGE_PAYMENT, PROVISION_ITEM, record_id, task_key
from sandbox.demo.beside import beside
from sandbox.demo.orders_plan import order_body
from sandbox.downstream import Answer, Call, Downstream, Exchange
from tests.sandbox.deployed import eventually
from tests.sandbox.orders_api import DeployedOrders

HELD = Answer(delay_seconds=2.5)  # within a provider's deadline
DROPPED = Answer(drop=True)
REJECTED = Answer(status=422)
TRIES = 4  # of a task, the first included
SDK_TRIES = 2  # of a call to AWS, the first included

_HELD_BACK_SECONDS = 2  # long enough to order a fault for what comes next


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An accepted order. `token` is its payment's, and the beginning of its items' SKUs."""

    key: str
    token: str
    execution: str

    @property
    def payment(self) -> str:
        """The key of the task, which the provider gets, too."""
        return task_key(self.execution, CHARGE_PAYMENT)

    def item(self, number: int) -> str:
        return task_key(self.execution, PROVISION_ITEM, number)


class OrdersWorkflow:
    """Providers answer the n-th call of a task as the order was placed with, later ones as the last."""

    def __init__(self, orders: DeployedOrders) -> None:
        self.orders = orders
        self.deployment = orders.deployment
        self.faults = orders.faults
        self._payments: dict[str, tuple[Answer, ...]] = {}
        self._first_items: dict[str, tuple[Answer, ...]] = {}
        self._one_reconciler = threading.Lock()  # on AWS its schedule keeps two runs apart
        orders.payment.script = self._charge
        orders.provisioning.script = self._provision

    def place(
        self, *, payment: tuple[Answer, ...] = (), first_item: tuple[Answer, ...] = (), items: int = 2
    ) -> Placed:
        key, body = self._new(payment, first_item, items)
        assert self.orders.post(key, body).status == 202
        return self._placed(key, body)

    def place_held_back(self, *, items: int = 2) -> Placed:
        """It is accepted, but its execution starts only in a moment."""
        key, body = self._new((), (), items)
        request = self.orders.request(key).id
        self.faults.latency("StartExecution", _HELD_BACK_SECONDS, body=f"contains(input, '{request}')")
        beside(partial(self.orders.post, key, body))
        eventually(lambda: self.record(key))
        return self._placed(key, body)

    def record(self, key: str) -> dict[str, Any]:
        """Plain values; empty if there is none."""
        return self._item("OrdersTableName", {"pk": {"S": self._pk(key)}, "sk": {"S": "request"}})

    def task(self, task: str) -> dict[str, Any]:
        """The record of the task with this key."""
        return self._item("TasksTableName", {"id": {"S": record_id(task)}})

    def write_of_record(self, key: str, status: str) -> str:
        """The UpdateItem that tells this status, for faults."""
        return f"""Key.pk.S == '{self._pk(key)}' && ExpressionAttributeValues.":status".S == '{status}'"""

    def charged(self, placed: Placed) -> list[Exchange]:
        return self.orders.payment.calls_of(placed.payment)

    def provisioned(self, placed: Placed, number: int) -> list[Exchange]:
        return self.orders.provisioning.calls_of(placed.item(number))

    def effects(self, placed: Placed, *, items: int = 2) -> list[int]:
        """Of the payment and of each item, whatever the key of the call was."""
        tokens = [_token(exchange.call) for exchange in _with_effect(self.orders.payment)]
        skus = [_sku(exchange.call) for exchange in _with_effect(self.orders.provisioning)]
        return [tokens.count(placed.token), *(skus.count(f"{placed.token}.{n}") for n in range(items))]

    def end(self, placed: Placed) -> dict[str, Any]:
        """What its caller is told once it has ended."""
        return self.orders.ended(placed.key, seconds=120)

    def stop(self, placed: Placed) -> None:
        self.deployment.stop(placed.execution)

    def settle_and_reconcile(self, placed: Placed) -> None:
        stepfunctions = self.orders.sandbox.client("stepfunctions")

        def stopped() -> float | None:
            execution = stepfunctions.describe_execution(
                executionArn=self.deployment.execution(placed.execution)
            )
            return execution["stopDate"].timestamp() if "stopDate" in execution else None

        until = eventually(stopped) + self.deployment.settle_seconds + 1
        time.sleep(max(0.0, until - time.time()))
        with self._one_reconciler:
            self.deployment.reconcile()

    def states(self, placed: Placed) -> list[str]:
        """Those that its execution entered, in order."""
        execution = self.deployment.execution(placed.execution)
        pages = self.orders.sandbox.client("stepfunctions").get_paginator("get_execution_history")
        events: list[Any] = [
            event for page in pages.paginate(executionArn=execution) for event in page["events"]
        ]
        return [e["stateEnteredEventDetails"]["name"] for e in events if "stateEnteredEventDetails" in e]

    def _new(
        self, payment: tuple[Answer, ...], first_item: tuple[Answer, ...], items: int
    ) -> tuple[str, bytes]:
        key = self.orders.key()
        self._payments[key] = payment or (Answer(),)
        self._first_items[key] = first_item or (Answer(),)
        return key, order_body(key, items=items).encode()

    def _placed(self, key: str, body: bytes) -> Placed:
        name = self.orders.request(key).execution_name(self.record(key)["orderId"])
        return Placed(key=key, token=json.loads(body)["payment"]["token"], execution=name)

    def _pk(self, key: str) -> str:
        return f"order:{self.orders.request(key).id}"

    def _item(self, table: str, primary: dict[str, Any]) -> dict[str, Any]:
        answer: Any = self.orders.sandbox.client("dynamodb").get_item(
            TableName=self.orders.outputs[table], Key=primary, ConsistentRead=True
        )
        return {name: next(iter(value.values())) for name, value in answer.get("Item", {}).items()}

    def _charge(self, call: Call, nth: int) -> Answer:
        return _nth(self._payments.get(_token(call), (Answer(),)), nth, call)

    def _provision(self, call: Call, nth: int) -> Answer:
        order, _, number = _sku(call).rpartition(".")
        answers = self._first_items.get(order, ()) if number == "0" else ()
        return _nth(answers or (Answer(),), nth, call)


def _nth(answers: tuple[Answer, ...], nth: int, call: Call) -> Answer:
    """With a receipt that no other call gets."""
    answer = answers[min(nth, len(answers)) - 1]
    return Answer(
        status=answer.status,
        drop=answer.drop,
        delay_seconds=answer.delay_seconds,
        body=f"{call.key} {nth}".encode(),
    )


def _with_effect(downstream: Downstream) -> list[Exchange]:
    return [exchange for exchange in downstream.calls if exchange.effect]


def _token(call: Call) -> str:
    return str(json.loads(call.body)["token"])


def _sku(call: Call) -> str:
    return str(json.loads(call.body)["sku"])
