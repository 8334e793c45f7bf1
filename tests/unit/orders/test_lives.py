"""Two callers, one key, and whatever clients, outages, workflows, the reconciler and time may do to it."""

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orders.records import Status
from tests.unit.aws import refusal
from tests.unit.orders.edge import RESULT, RETENTION, TASKS, Edge, request
from tests.unit.orders.requests import ALICE, BOB, BODY, OTHER_BODY
from tests.unit.orders.tables import empty

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CALLERS = {"alice": ALICE, "bob": BOB}
ALLOWED = {
    Status.RUNNING: {Status.ACCEPTED},
    Status.SUCCEEDED: set(Status),
    Status.FAILED: {Status.ACCEPTED, Status.RUNNING, Status.FAILED},
}
FAULTS = ("", "", "throttled", "answer lost", "crash")

posts = st.tuples(
    st.just("post"),
    st.sampled_from(sorted(CALLERS)),
    st.sampled_from([BODY, OTHER_BODY]),
    st.sampled_from(FAULTS),
)
writes = st.tuples(st.just("write"), st.integers(0, 9), st.sampled_from(sorted(ALLOWED)))
waits = st.tuples(st.just("wait"), st.sampled_from([1, RETENTION - 1, RETENTION]))


class Crash(BaseException):
    """Of the function's process, right after its start of the execution."""


@dataclass(frozen=True)
class Known:
    """What must be told of a caller's order."""

    id: str
    body: str
    status: Status
    until: int


class Lives:
    def __init__(self, edge: Edge) -> None:
        self.edge = edge
        self.known: dict[str, Known] = {}
        self.owners: dict[str, str] = {}  # caller by order

    def post(self, who: str, body: str, fault: str) -> None:
        steps = self.edge.stepfunctions
        started = len(steps.executions)
        steps.failures = [refusal("ThrottlingException")] if fault == "throttled" else []
        lost: dict[str, list[BaseException]] = {
            "answer lost": [refusal("InternalError")],
            "crash": [Crash()],
        }
        steps.answers_lost = lost.get(fault, [])
        live = self._live(who)
        try:
            answer = self.edge.post(body, caller=CALLERS[who])
        except Crash:
            assert fault == "crash"
            self._learn(who, body)
            return
        finally:
            steps.failures, steps.answers_lost = [], []
        if live and live.body != body:
            assert (answer.status, len(steps.executions)) == (409, started)
            return
        order = self._learn(who, body)
        if answer.status == 202:
            assert answer.content == {"id": order.id, "status": "ACCEPTED"}
            assert answer.replayed is bool(live)
            assert order.status is not Status.ACCEPTED or self._executions(order.id) == 1
        else:
            assert (answer.status, order.status) == (503, Status.ACCEPTED)
            assert fault

    def write(self, number: int, status: Status) -> None:
        """By the workflow of any execution there has been, or by the reconciler for it."""
        executions = self.edge.executions
        if not executions:
            return
        order = json.loads(executions[number % len(executions)].input)
        life = order["requestId"], order["orderId"]
        who = self.owners[order["orderId"]]
        assert order["requestId"] == request(CALLERS[who]).id
        known = self.known[who]
        told = {
            Status.RUNNING: lambda: self.edge.orders.begin(*life, now=self.edge.now),
            Status.SUCCEEDED: lambda: self.edge.orders.finish(*life, now=self.edge.now, result=RESULT),
            Status.FAILED: lambda: self.edge.orders.fail(*life, now=self.edge.now, reason="r", tasks=TASKS),
        }[status]()
        assert told is (known.id == order["orderId"])
        if told and known.status in ALLOWED[status]:
            self.known[who] = replace(known, status=status, until=self.edge.now + RETENTION)

    def wait(self, seconds: int) -> None:
        self.edge.now += seconds

    def check(self) -> None:
        for who, caller in CALLERS.items():
            live, answer = self._live(who), self.edge.get(caller=caller)
            if live is None:
                assert answer.status == 404
            else:
                assert (answer.content["id"], answer.content["status"]) == (live.id, live.status)
        started = Counter(json.loads(each.input)["orderId"] for each in self.edge.executions)
        assert set(started.values()) <= {1}
        assert started.keys() <= self.owners.keys()

    def _live(self, who: str) -> Known | None:
        known = self.known.get(who)
        return known if known and self.edge.now < known.until else None

    def _learn(self, who: str, body: str) -> Known:
        """The order that a post has made, or has found."""
        live = self._live(who)
        if live is None:
            made = self.edge.order(caller=CALLERS[who]).id
            assert made not in self.owners, "an order has been given to two"
            self.owners[made] = who
            live = Known(made, body, Status.ACCEPTED, self.edge.now + RETENTION)
            self.known[who] = live
        return live

    def _executions(self, order_id: str) -> int:
        return sum(json.loads(each.input)["orderId"] == order_id for each in self.edge.executions)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(posts | writes | waits, min_size=1, max_size=15))
def test_no_order_is_lost_doubled_or_shown_to_another(
    steps: list[tuple[Any, ...]], dynamodb: "DynamoDBClient"
) -> None:
    empty(dynamodb)
    lives = Lives(Edge(dynamodb))
    for name, *arguments in steps:
        getattr(lives, name)(*arguments)
        lives.check()
