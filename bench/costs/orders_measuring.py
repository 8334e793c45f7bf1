"""Counts what an order takes: one of one item, one asked for again, one item more, one look at its status."""

from bench.costs.item_size import item_bytes
from bench.costs.measured import Usage, Workload
from bench.costs.meter import Meter, states_entered, wait_until
from sandbox.aws import Sandbox
from sandbox.demo.orders_callers import USERS, callers
from sandbox.demo.orders_client import OrdersApi
from sandbox.demo.orders_deployment import Orders
from sandbox.demo.orders_plan import order_body

FUNCTIONS = ("AcceptOrder", "OrderStatus", "BeginOrder", "ChargePayment", "ProvisionItem", "FinishOrder")


def count(sandbox: Sandbox, outputs: dict[str, str], events: int) -> Workload:
    """So many orders of one item, and as many of two: the difference is what an item more takes."""
    shop = _Shop(sandbox, outputs)
    meter = Meter(sandbox=sandbox, deployment=shop.deployment, functions=FUNCTIONS)
    one = meter.usage(lambda: shop.order("one", items=1, orders=events), events=events)
    of_one, records_of_one = shop.executions(), shop.records()
    duplicate = meter.usage(lambda: shop.order("one", items=1, orders=events), events=events)
    poll = meter.usage(lambda: shop.look("one", orders=events), events=events)
    two = meter.usage(lambda: shop.order("two", items=2, orders=events), events=events)
    states_of_one = states_entered(sandbox, of_one)
    states_of_two = states_entered(sandbox, shop.executions() - of_one)
    records, bytes_of_one = shop.records(), sum(records_of_one)
    return Workload(
        deliveries={
            "new": one + Usage(states=states_of_one),
            "duplicate": duplicate,
            "item": two.less(one) + Usage(states=states_of_two - states_of_one),
            "poll": poll,
        },
        sizes={
            "body": len(order_body(_key("one", 0), items=1)),
            "record": max(records),  # the larger kind of them
            "records": bytes_of_one / events,
            "item": (sum(records) - 2 * bytes_of_one) / events,
        },
    )


class _Shop:
    def __init__(self, sandbox: Sandbox, outputs: dict[str, str]) -> None:
        self.deployment = Orders(sandbox, outputs)
        self._sandbox = sandbox
        self._api = OrdersApi(sandbox.endpoint, outputs)
        self._caller = callers(sandbox, outputs["ApiId"])[USERS[0]]

    def order(self, prefix: str, *, items: int, orders: int) -> None:
        """Returns when all of them are done."""
        for number in range(orders):
            key = _key(prefix, number)
            reply = self._api.post(
                order_body(key, items=items).encode(),
                headers=[("Idempotency-Key", key)],
                credentials=self._caller(),
            )
            if reply.status != 202:
                raise RuntimeError(f"an order was answered {reply.status}: {reply.body}")
        wait_until(lambda: not self.deployment.executions("RUNNING"))

    def look(self, prefix: str, *, orders: int) -> None:
        """At the status of each."""
        for number in range(orders):
            self._api.get(_key(prefix, number), credentials=self._caller())

    def executions(self) -> set[str]:
        return {str(each["executionArn"]) for each in self.deployment.executions()}

    def records(self) -> list[int]:
        """The sizes of all of them: the orders' and the tasks'."""
        pages = self._sandbox.client("dynamodb").get_paginator("scan")
        return [
            item_bytes(item)
            for table in ("OrdersTableName", "TasksTableName")
            for page in pages.paginate(TableName=self.deployment.outputs[table], ConsistentRead=True)
            for item in page["Items"]
        ]


def _key(prefix: str, number: int) -> str:
    return f"{prefix}-{number:08}"
