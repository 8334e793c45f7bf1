"""Chaos over orders judges what its clients heard: an outage is no answer, a failure must be told truly."""

from dataclasses import dataclass
from typing import Any

import pytest

from sandbox.chaos.orders_storm import OrdersChaos
from sandbox.demo.orders_client import OrdersApi, Reply
from sandbox.demo.orders_deployment import Orders
from sandbox.demo.orders_plan import Kind, OrdersPlan, PlannedOrder
from sandbox.demo.orders_story import Posted
from sandbox.demo.tally import Run
from sandbox.downstream import Answer, Call, Downstream

ORDER = PlannedOrder(id="O-1", kind=Kind.ACCEPTED, caller="ann", key="order-0001", items=1)
PLAN = OrdersPlan(
    events=(ORDER,), overlapping=(), later=(), contested=(), altered=(), clumsy=(), pried_into=()
)
OUTAGE = Reply(status=503, headers={}, body='{"status": 503}')


@dataclass
class Deployed(Orders):
    status: str

    def statuses(self) -> dict[str, str]:
        return {"id": self.status}

    def executions(self, *_statuses: str) -> list[dict[str, Any]]:
        return [{}]


def accepted(**headers: str) -> Reply:
    return Reply(status=202, headers={"location": f"/v1/orders/{ORDER.key}", **headers}, body='{"id": "id"}')


def call(key: str, body: str) -> Call:
    return Call(at=0, method="POST", path="/", key=key, attempt="1", body=body.encode())


def judged(
    status: str, said: str, *, replies: tuple[Reply, ...], charged: int = 1, provisioned: int = 1
) -> Run:
    """`said` is the rest of what its caller was told at last; `charged` under so many keys."""
    payment, provisioning = (Downstream(lambda _call, _n: Answer(body=b"receipt"), dedupe=True) for _ in "12")
    for nth in range(charged):
        payment._handle(call(f"charge {nth}", '{"token": "O-1", "amount": "12.50"}'))
    for nth in range(provisioned):
        provisioning._handle(call(f"item {nth}", '{"sku": "O-1.0"}'))
    storm = OrdersChaos(
        PLAN,
        Deployed(status=status),
        api=OrdersApi("http://127.0.0.1:1", {"ApiUrl": "https://x/sandbox", "ApiId": "x"}),
        callers={},
        payment=payment,
        provisioning=provisioning,
    )
    storm._posted[ORDER.id] = [Posted(body=ORDER.body, reply=reply) for reply in replies]
    end = Reply(status=200, headers={}, body=f'{{"id": "id", "status": "{status}", {said}}}')
    storm._seen[ORDER.id] = [OUTAGE, end]
    return storm._judge(seconds=1)


RESULT = '"result": {"payment": {"receipt": "receipt"}, "items": [{"receipt": "receipt"}]}'
HEARD = (OUTAGE, accepted(**{"idempotency-replayed": "true"}))


def failed(payment: str, item: str) -> str:
    return f'"reason": "a task failed", "tasks": {{"payment": "{payment}", "items": ["{item}"]}}'


def test_an_order_whose_first_answer_was_an_outage_may_be_a_replay_to_its_client() -> None:
    assert judged("SUCCEEDED", RESULT, replies=HEARD).report()["verdict"] == "ok"


def test_a_replay_without_anything_before_it_is_a_violation() -> None:
    assert judged("SUCCEEDED", RESULT, replies=HEARD[1:]).report()["verdict"] == "failed"


@pytest.mark.parametrize("told", [("done", "unknown"), ("done", "not done"), ("unknown", "not done")])
def test_an_order_may_fail_if_its_caller_is_told_the_truth(told: tuple[str, str]) -> None:
    report = judged("FAILED", failed(*told), replies=HEARD, provisioned=0).report()
    assert (report["verdict"], report["failed"], report["lost"]) == ("ok", 1, 0)


def test_an_effect_told_as_not_done_is_a_violation() -> None:
    report = judged("FAILED", failed("not done", "not done"), replies=HEARD, provisioned=0).report()
    assert report["verdict"] == "failed"


def test_an_order_that_nobody_carries_on_is_lost() -> None:
    report = judged("RUNNING", '"x": 1', replies=HEARD, provisioned=0).report()
    assert (report["verdict"], report["lost"]) == ("failed", 1)


def test_an_order_that_was_charged_under_two_keys_is_doubled() -> None:
    report = judged("SUCCEEDED", RESULT, replies=HEARD, charged=2).report()
    assert (report["verdict"], report["doubled"]) == ("failed", 1)
