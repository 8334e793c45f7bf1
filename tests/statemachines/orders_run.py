"""Orders in one process: the real endpoints, definition, functions and reconciler; the rest is ours."""

import json
from itertools import count
from threading import Event as Flag
from typing import Any

from executions.handled import HandledEnds
from executions.unfinished import UnfinishedExecutions
from orders import caller, order_status
from orders.accept_order import Acceptance
from orders.endpoint import answered
from orders.reconciler import Reconciler
from orders.records import Order, Orders, Request
from orders.task_states import TaskStates
from stacks.settings import OrdersSettings
from tests.statemachines.clock import Clock
from tests.statemachines.definition import resolved_orders
from tests.statemachines.executions import Machine, Run
from tests.statemachines.moto_parser import Surroundings
from tests.statemachines.orders_downstream import Downstream
from tests.statemachines.orders_functions import OrderFunctions
from tests.unit.orders.requests import BODY, KEY, Answer, get, post
from tests.unit.orders.tables import ORDERS, TASKS


class OrderMachine(Machine):
    """Step Functions as the endpoint and the reconciler call it."""

    latest: str  # the execution that was started last

    @property
    def exceptions(self) -> Any:
        return self.client.exceptions

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> None:  # noqa: A002, N803
        assert stateMachineArn == self.arn
        self.latest = self.start(name, input)

    def get_paginator(self, operation: str) -> Any:
        if operation == "get_execution_history":
            return self.client.get_paginator(operation)
        return super().get_paginator(operation)


class OrdersRun:
    """`functions` and the two downstreams follow scripts: they work unless told otherwise."""

    def __init__(self, settings: OrdersSettings, *, dynamodb: Any, stepfunctions: Any) -> None:
        self.settings = settings
        self.clock = Clock()
        self.functions = OrderFunctions(settings)
        self.payment, self.provisioning = Downstream(), Downstream()
        self.definition = resolved_orders(settings)
        self.time_is_up = Flag()
        self.orders = Orders(dynamodb, ORDERS, retention=settings.retention_seconds)
        self._dynamodb = dynamodb
        self._stepfunctions = stepfunctions
        self._redriven: dict[str, dict[str, Any]] = {}
        self._machines: list[OrderMachine] = []
        self._numbers = count(1)

    @property
    def environment(self) -> dict[str, str]:
        """What the handlers read of it."""
        return {
            "ORDERS_TABLE": ORDERS,
            "RETENTION_SECONDS": str(self.settings.retention_seconds),
            "TASKS_TABLE": TASKS,
            "TASK_RETENTION_SECONDS": str(self.settings.task_retention_seconds),
            "MARGIN_SECONDS": str(self.settings.margin_seconds),
        }

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(
            invoke=self.functions.invoke,
            send_message=_nobody,
            wait=self.clock.wait,
            nap=self.clock.nap,
            redriven=lambda execution: self._redriven.get(execution, {}),
            ended=self._ended,
            time_is_up=self.time_is_up,
        )

    @property
    def machine(self) -> OrderMachine:
        return self._machines[0] if self._machines else self._made(self.definition, name="orders")

    def post(self, body: str = BODY) -> Answer:
        """Starts the execution, unless that has been done."""
        acceptance = Acceptance(
            orders=self.orders,
            stepfunctions=self.machine,
            machine=self.machine.arn,
            clock=self.clock,
            new_order_id=lambda: f"order-{next(self._numbers)}",
        )
        return Answer(answered(lambda: acceptance.accept(post(body))))

    def told(self) -> dict[str, Any]:
        """What the caller reads of the order."""
        answer = Answer(answered(lambda: order_status.status(get(), records=self.orders, now=self.clock())))
        assert answer.status == 200
        return answer.content

    def order(self) -> Order:
        request = Request(caller=caller.of(get()), key=KEY)
        order = self.orders.read(request, now=self.clock())
        assert order is not None
        return order

    def forget(self) -> None:
        """TTL deletes what has expired."""
        for item in self._dynamodb.scan(TableName=ORDERS)["Items"]:
            self._dynamodb.delete_item(TableName=ORDERS, Key={key: item[key] for key in ("pk", "sk")})

    def place(self, body: str = BODY) -> Run:
        """A new order, through its workflow to the end."""
        return self.machine.finish(self.begin(body))

    def begin(self, body: str = BODY) -> str:
        """A new order; its execution's ARN."""
        answer = self.post(body)
        assert (answer.status, answer.replayed) == (202, False)
        return self.machine.latest

    def redrive(self, run: Run, *, at: str) -> Run:
        """RedriveExecution: the same execution, by its name too, goes on where it broke off.

        Of a Map AWS runs only the items anew that had not succeeded; here all of them are.
        """
        name = f"redrive-{len(self._redriven) + 1}"
        self._redriven[name] = {"Id": run.arn, "Name": run.arn.rpartition(":")[2], "RedriveCount": 1}
        again = self._made({**self.definition, "StartAt": at}, name=name)
        return again.finish(again.start(name, json.dumps(run.inputs[at])))

    def reconcile(self) -> dict[str, int]:
        """One run of the reconciler, as soon as nothing of the executions that ended can still be running."""
        self.clock.advance(self.settings.settle_seconds)
        return Reconciler(
            executions=UnfinishedExecutions(
                stepfunctions=self.machine,
                handled=HandledEnds(self._dynamodb, ORDERS),
                machine=self.machine.arn,
                machine_timeout=self.settings.workflow.timeout_seconds,
                settle=self.settings.settle_seconds,
                clock=self.clock,
            ),
            orders=self.orders,
            tasks=TaskStates(stepfunctions=self.machine, dynamodb=self._dynamodb, table=TASKS),
            clock=self.clock,
        ).run(enough_time=lambda: True)

    def _made(self, definition: dict[str, Any], *, name: str) -> OrderMachine:
        machine = OrderMachine(self._stepfunctions, definition, name=name, clock=self.clock)
        self._machines.append(machine)
        return machine

    def _ended(self, execution_arn: str) -> None:
        for machine in self._machines:
            machine.ended(execution_arn)


def _nobody(**_: object) -> None:
    raise AssertionError("this workflow sends no messages")
