"""Both endpoints as `wiring` would build them, in front of one table and one state machine."""

from itertools import count
from typing import TYPE_CHECKING, Any

from orders import caller, order_status
from orders.accept_order import Acceptance
from orders.endpoint import answered
from orders.records import Order, Orders, Request, Status
from tests.unit.aws import Execution, StepFunctions
from tests.unit.orders.requests import ALICE, BODY, KEY, Answer, Caller, Event, get, post
from tests.unit.orders.tables import ORDERS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOW = 1_800_000_000
RETENTION = 40 * 86_400
MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:orders"


class Edge:
    def __init__(self, dynamodb: "DynamoDBClient") -> None:
        self.stepfunctions = StepFunctions(machine=MACHINE)
        self.orders = Orders(dynamodb, ORDERS, retention=RETENTION)
        self.now = NOW
        self._numbers = count(1)
        self._acceptance = Acceptance(
            orders=self.orders,
            stepfunctions=self.stepfunctions,
            machine=MACHINE,
            clock=lambda: self.now,
            new_order_id=lambda: f"order-{next(self._numbers)}",
        )

    def post(self, body: str | None = BODY, **request: Any) -> Answer:
        return self.send(post(body, **request))

    def send(self, event: Event) -> Answer:
        return Answer(answered(lambda: self._acceptance.accept(event)))

    def get(self, key: str | None = KEY, *, caller: Caller = ALICE) -> Answer:
        event = get(key, caller=caller)
        return Answer(answered(lambda: order_status.status(event, records=self.orders, now=self.now)))

    def order(self, *, caller: Caller = ALICE, key: str = KEY) -> Order:
        order = self.orders.read(request(caller, key), now=self.now)
        assert order is not None
        return order

    @property
    def executions(self) -> list[Execution]:
        return list(self.stepfunctions.executions.values())

    def bring_to(self, status: Status) -> None:
        """Alice's order, as the workflow and the reconciler would."""
        life = request().id, self.order().id
        match status:
            case Status.RUNNING:
                assert self.orders.begin(*life, now=self.now)
            case Status.SUCCEEDED:
                assert self.orders.finish(*life, now=self.now, result=RESULT)
            case Status.FAILED:
                assert self.orders.fail(*life, now=self.now, reason="a task failed", tasks=TASKS)
        assert self.order().status is status


RESULT = '{"payment":{"receipt":"r-0"},"items":[{"receipt":"r-1"},{"receipt":"r-2"}]}'
TASKS = '{"payment": "done", "items": ["done", "unknown"]}'


def request(who: Caller = ALICE, key: str = KEY) -> Request:
    return Request(caller=caller.of({"requestContext": who}), key=key)
