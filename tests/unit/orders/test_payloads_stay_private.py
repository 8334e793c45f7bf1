"""Every handler of orders, wired as in Lambda and run on a marked order: no line shows any of it."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

import wiring
from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from orders import accept_order, begin_order, finish_order, order_status, order_table, reconciler
from tests.unit.aws import StepFunctions, refusal
from tests.unit.conftest import Lines
from tests.unit.orders.conftest import Hook
from tests.unit.orders.edge import MACHINE
from tests.unit.orders.requests import BODY, KEY, OTHER_BODY, Answer, get, post
from tests.unit.orders.tables import ORDERS, TASKS
from tests.unit.orders.task_workers import Context, Workers, raising, workers

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MARKER = "payload-marker-7f3a"
SECRET = BODY.replace("tok_1", MARKER).replace("SKU-1", MARKER)
ENVIRONMENT = {
    "MACHINE_TIMEOUT_SECONDS": "500",
    "ORDERS_TABLE": ORDERS,
    "RETENTION_SECONDS": "100000",
    "SDK_CALL_SECONDS": "4",
    "SETTLE_SECONDS": "40",
    "STATE_MACHINE_ARN": MACHINE,
    "TASKS_TABLE": TASKS,
}


class Account:
    def __init__(self, tasks: Workers) -> None:
        self.stepfunctions = StepFunctions(machine=MACHINE)
        self.tasks = tasks

    def place(self, body: str = SECRET, key: str = KEY) -> Answer:
        return Answer(accept_order.handler(post(body, key=key), Context()))

    def told(self, key: str = KEY) -> Answer:
        return Answer(order_status.handler(get(key), Context()))

    @property
    def order(self) -> dict[str, Any]:
        """The input of the only execution."""
        (execution,) = self.stepfunctions.executions.values()
        return dict(json.loads(execution.input))


@pytest.fixture
def account(dynamodb: "DynamoDBClient", monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with workers(dynamodb, monkeypatch) as tasks:
        account = Account(tasks)
        clients = {"dynamodb": dynamodb, "stepfunctions": account.stepfunctions}
        monkeypatch.setattr(wiring, "client", clients.__getitem__)
        for cached in (accept_order._acceptance, order_table.orders):
            cached.cache_clear()
        yield account
        for cached in (accept_order._acceptance, order_table.orders):
            cached.cache_clear()


@pytest.fixture(autouse=True)
def nothing_shows(log_lines: Lines, capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert log_lines(), "a handler that logs nothing proves nothing"
    assert MARKER not in str(log_lines())
    assert MARKER not in capsys.readouterr().out


def test_orders_that_are_accepted_repeated_and_refused(account: Account) -> None:
    answers = [
        account.place(),
        account.place(),
        account.place(OTHER_BODY),
        account.place(SECRET.replace("EUR", MARKER), key="another-key"),
        account.place(f"{MARKER} is no json", key="another-key"),
        account.place(SECRET, key=f"{MARKER}, twice"),
        account.place(MARKER * 10_000, key="another-key"),
    ]
    assert [answer.status for answer in answers] == [202, 202, 409, 422, 400, 400, 413]


@pytest.mark.parametrize("operation", ["PutItem", "GetItem"])
def test_orders_while_the_table_does_not_answer(operation: str, account: Account, hook: Hook) -> None:
    def refuse(**_: Any) -> None:
        raise refusal("ThrottlingException", operation)

    hook(f"before-parameter-build.dynamodb.{operation}", refuse)
    body = SECRET if operation == "PutItem" else SECRET + MARKER
    assert account.place(body).status == 503


def test_an_order_that_can_not_be_started(account: Account) -> None:
    account.stepfunctions.failures.append(refusal("ThrottlingException", "StartExecution"))
    assert account.place().status == 503


def test_an_order_from_beginning_to_end(account: Account) -> None:
    account.place()
    order = account.order
    begin_order.handler(order, Context())
    account.tasks.charge(payment=order["payment"])
    account.tasks.provision(0, item=order["items"][0])
    finish_order.handler({**order, "result": {"payment": {"receipt": MARKER}, "items": []}}, Context())
    assert account.told().content["result"] == {"payment": {"receipt": MARKER}, "items": []}
    assert account.told(MARKER).status == 404


def test_an_order_that_nobody_waits_for(account: Account) -> None:
    account.place()
    stranger = {**account.order, "orderId": "another"}
    with pytest.raises(begin_order.Superseded):
        begin_order.handler(stranger, Context())
    finish_order.handler({**stranger, "result": {"payment": {"receipt": MARKER}}}, Context())


@pytest.mark.parametrize("error", [Rejected, NotApplied, OutcomeUnknown, ValueError])
def test_a_task_that_fails(error: Callable[[str], Exception], account: Account) -> None:
    """Our own errors say nothing of what was sent, and of an error of the user's the text is not logged."""
    account.place()
    failure = error(MARKER if error is ValueError else "HTTP 4xx")
    account.tasks.payment.plays = [raising(failure)]
    with pytest.raises(type(failure)):
        account.tasks.charge(payment=account.order["payment"])


def test_the_reconciler(account: Account) -> None:
    account.place()
    (execution,) = account.stepfunctions.executions.values()
    execution.status, execution.stopped = "ABORTED", wiring.clock() - 100
    assert reconciler.handler({}, Context(60_000)) == {"handled": 1}
    assert account.told().content["reason"] == "it was stopped"


def test_the_reconciler_stops_in_time(account: Account) -> None:
    """Before the ten calls that one order may take no longer fit."""
    account.place()
    (execution,) = account.stepfunctions.executions.values()
    execution.status, execution.stopped = "ABORTED", wiring.clock() - 100
    assert reconciler.handler({}, Context(10 * 4 * 1_000)) == {"handled": 0}
