"""The orders demo's verdict: answers, both providers, records and executions must fit each other."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from sandbox.demo.orders_client import OrdersApi, Reply
from sandbox.demo.orders_deployment import Orders
from sandbox.demo.orders_plan import (
    Kind,
    OrdersPlan,
    PlannedOrder,
    Task,
    charges,
    order_body,
    provisions,
)
from sandbox.demo.orders_refusals import REFUSED
from sandbox.demo.orders_storm import OrdersStorm
from sandbox.demo.orders_story import Posted
from sandbox.demo.tally import Run
from sandbox.downstream import Answer, Call, Downstream


def order(number: int, kind: Kind, caller: str = "ann") -> PlannedOrder:
    return PlannedOrder(id=f"O-{number}", kind=kind, caller=caller, key=f"order-{number:04}", items=2)


GOOD, REJECTED, ODD, UNHEARD, STOPPED = (
    order(number, kind)
    for number, kind in enumerate(
        (Kind.ACCEPTED, Kind.REJECTED, Kind.ITEM_REJECTED, Kind.ITEM_UNHEARD, Kind.STOPPED), start=1
    )
)
ORDERS = (GOOD, REJECTED, ODD, UNHEARD, STOPPED)
PLAN = OrdersPlan(events=ORDERS, overlapping=(), later=(), contested=(), altered=(), clumsy=(), pried_into=())


@dataclass
class Deployed(Orders):
    """What a deployment shows after the storm."""

    records: dict[str, str] = field(default_factory=dict)
    started: int = len(ORDERS)

    def statuses(self) -> dict[str, str]:
        return self.records

    def executions(self, *statuses: str) -> list[dict[str, Any]]:
        return [{}] * (0 if statuses else self.started)


class World:
    """After a storm in which everything went well; `judge` says what the demo would say of it."""

    def __init__(self) -> None:
        by_id = {each.id: each for each in ORDERS}
        self.payment = Downstream(partial(charges, by_id), dedupe=True)
        self.provisioning = Downstream(partial(provisions, by_id), dedupe=True)
        self.deployed = Deployed(records={})
        self.posted: dict[str, list[Posted]] = {}
        self.seen: dict[str, list[Reply]] = {}
        for each in ORDERS:
            self.posted[each.id] = [accepted(each), accepted(each, replayed=True), conflict(each)]
            self.charge(each)
        for each in (GOOD, ODD, UNHEARD):
            self.provision(each, 0)
            self.provision(each, 1)
        self.ends(GOOD, status="SUCCEEDED", result=result(GOOD))
        self.fails(REJECTED, "a task failed", "not done", "not done", "not done")
        self.fails(ODD, "a task failed", "done", "not done", "done")
        self.fails(UNHEARD, "a task failed", "done", "unknown", "done")
        self.fails(STOPPED, "it was stopped", "done", "not done", "not done")

    def charge(self, of: PlannedOrder, *, execution: str = "", amount: str = "12.50") -> None:
        content = {"token": of.id, "amount": amount}
        call(self.payment, f"{execution or of.id}:charge-payment", content)

    def provision(self, of: PlannedOrder, number: int, *, execution: str = "") -> None:
        key = f"{execution or of.id}:provision-item:{number}"
        call(self.provisioning, key, {"sku": f"{of.id}.{number}"})

    def ends(self, of: PlannedOrder, **said: Any) -> None:
        self.seen[of.id] = [status(of, status="ACCEPTED"), status(of, status="RUNNING"), status(of, **said)]
        self.deployed.records[id_of(of)] = said["status"]

    def fails(self, of: PlannedOrder, reason: str, payment: str, *items: str) -> None:
        self.ends(of, status="FAILED", reason=reason, tasks={"payment": payment, "items": list(items)})

    def judge(self) -> Run:
        storm = OrdersStorm(
            PLAN,
            self.deployed,
            api=OrdersApi("http://127.0.0.1:1", {"ApiUrl": "https://x/sandbox", "ApiId": "x"}),
            callers={},
            payment=self.payment,
            provisioning=self.provisioning,
        )
        storm._posted, storm._seen = self.posted, self.seen
        return storm._judge(seconds=1)


def id_of(of: PlannedOrder) -> str:
    return f"id of {of.id}"


def accepted(of: PlannedOrder, *, replayed: bool = False, body: str = "", **changed: str) -> Posted:
    said = {"id": id_of(of), "status": "ACCEPTED", **changed}
    headers = {"location": f"/sandbox/v1/orders/{of.key}"}
    if replayed:
        headers["idempotency-replayed"] = "true"
    return Posted(body=body or of.body, reply=Reply(status=202, headers=headers, body=json.dumps(said)))


def refused(of: PlannedOrder, status: int, body: str) -> Posted:
    return Posted(body=body, reply=Reply(status=status, headers={}, body="{}"))


def conflict(of: PlannedOrder) -> Posted:
    return refused(of, 409, of.other_body)


def status(of: PlannedOrder, **said: Any) -> Reply:
    return Reply(status=200, headers={}, body=json.dumps({"id": id_of(of), **said}))


def result(of: PlannedOrder) -> dict[str, Any]:
    items = [{"receipt": f"{of.id}:provision-item:{number} 1"} for number in range(of.items)]
    return {"payment": {"receipt": f"{of.id}:charge-payment 1"}, "items": items}


def call(downstream: Downstream, key: str, content: dict[str, str]) -> None:
    body = json.dumps(content).encode()
    downstream._handle(Call(at=0, method="POST", path="/", key=key, attempt="1", body=body))


def test_when_all_goes_well_the_verdict_is_ok() -> None:
    report = World().judge().report()

    assert report["violations"] == []
    assert (report["events"], report["deliveries"], report["skipped"], report["conflicts"]) == (5, 15, 5, 5)
    assert (report["done"], report["failed"], report["dead_lettered"], report["in_doubt"]) == (1, 4, 0, 0)
    assert (report["charged"], report["provisioned"], report["effects"]) == (4, 5, 9)
    assert (report["lost"], report["doubled"], report["max_effects_per_event"]) == (0, 0, 1)


def charged_twice(world: World) -> None:
    world.charge(GOOD, execution="another")


def provisioned_twice(world: World) -> None:
    world.provision(GOOD, 1, execution="another")


def charged_although_rejected(world: World) -> None:
    world.payment.script = lambda *_: Answer()
    world.charge(REJECTED)


def provisioned_although_rejected(world: World) -> None:
    world.provision(REJECTED, 0)


def provisioned_although_stopped(world: World) -> None:
    world.provision(STOPPED, 0)


def provisioned_an_item_too_many(world: World) -> None:
    world.provision(GOOD, 2)


def charged_another_amount(world: World) -> None:
    world.payment = Downstream(lambda *_: Answer(body=f"{GOOD.id}:charge-payment 1".encode()), dedupe=True)
    for each in (GOOD, ODD, UNHEARD, STOPPED):
        world.charge(each, amount="99.99")


def never_charged(world: World) -> None:
    world.payment = Downstream(dedupe=True)


def charged_what_nobody_ordered(world: World) -> None:
    world.payment.script = lambda *_: Answer()
    world.charge(order(99, Kind.ACCEPTED))


def provisioned_what_nobody_ordered(world: World) -> None:
    world.provisioning.script = lambda *_: Answer()
    world.provision(order(99, Kind.ACCEPTED), 0)


def another_id_for_a_retry(world: World) -> None:
    world.posted[GOOD.id].append(accepted(GOOD, replayed=True, id="another"))


def another_status_for_a_retry(world: World) -> None:
    world.posted[GOOD.id].append(accepted(GOOD, replayed=True, status="SUCCEEDED"))


def two_first_answers(world: World) -> None:
    world.posted[GOOD.id].append(accepted(GOOD))


def no_first_answer(world: World) -> None:
    del world.posted[GOOD.id][0]


def two_bodies_under_one_key(world: World) -> None:
    world.posted[GOOD.id].append(accepted(GOOD, replayed=True, body=GOOD.other_body))


def a_conflict_with_itself(world: World) -> None:
    world.posted[GOOD.id].append(refused(GOOD, 409, GOOD.body))


def a_server_error(world: World) -> None:
    world.posted[GOOD.id].append(refused(GOOD, 502, GOOD.body))


def never_accepted(world: World) -> None:
    world.posted[GOOD.id] = [Posted(body=GOOD.body, reply=None)]


def at_another_place(world: World) -> None:
    somewhere = {"location": "/v1/orders/order-9999"}
    for posted in world.posted[GOOD.id]:
        if posted.reply:
            object.__setattr__(posted.reply, "headers", dict(posted.reply.headers) | somewhere)


def somebody_elses_order_seen(world: World) -> None:
    world.seen[GOOD.id].insert(0, status(REJECTED, status="ACCEPTED"))


def a_status_that_failed(world: World) -> None:
    world.seen[GOOD.id].insert(0, Reply(status=404, headers={}, body="{}"))


def a_status_that_went_back(world: World) -> None:
    world.seen[GOOD.id].insert(0, status(GOOD, status="RUNNING"))


def a_status_that_there_is_not(world: World) -> None:
    world.seen[GOOD.id].insert(0, status(GOOD, status="PENDING"))


def never_ended(world: World) -> None:
    world.ends(GOOD, status="RUNNING")


def never_seen(world: World) -> None:
    world.seen[GOOD.id] = []


def failed_without_a_reason_to(world: World) -> None:
    world.fails(GOOD, "a task failed", "done", "done", "done")


def succeeded_although_it_failed(world: World) -> None:
    world.ends(ODD, status="SUCCEEDED", result=result(ODD))


def another_receipt(world: World) -> None:
    world.ends(GOOD, status="SUCCEEDED", result=result(GOOD) | {"payment": {"receipt": "another"}})


def no_result(world: World) -> None:
    world.ends(GOOD, status="SUCCEEDED")


def failed_for_another_reason(world: World) -> None:
    world.fails(STOPPED, "a task failed", "done", "not done", "not done")


def failed_without_its_tasks(world: World) -> None:
    world.ends(STOPPED, status="FAILED", reason="it was stopped")


def a_payment_told_as_undone(world: World) -> None:
    world.fails(STOPPED, "it was stopped", "not done", "not done", "not done")


def an_item_told_as_undone(world: World) -> None:
    world.fails(UNHEARD, "a task failed", "done", "not done", "done")


def an_item_told_as_undone_that_was_done(world: World) -> None:
    world.fails(ODD, "a task failed", "done", "not done", "not done")


def an_item_not_told(world: World) -> None:
    world.fails(STOPPED, "it was stopped", "done", "not done")


def a_record_that_says_something_else(world: World) -> None:
    world.deployed.records[id_of(GOOD)] = "RUNNING"


def a_record_too_many(world: World) -> None:
    world.deployed.records["nobody's"] = "ACCEPTED"


def a_record_too_few(world: World) -> None:
    del world.deployed.records[id_of(GOOD)]


def an_execution_too_many(world: World) -> None:
    world.deployed.started += 1


@pytest.mark.parametrize(
    "spoil",
    [
        charged_twice,
        provisioned_twice,
        charged_although_rejected,
        provisioned_although_rejected,
        provisioned_although_stopped,
        provisioned_an_item_too_many,
        charged_another_amount,
        never_charged,
        charged_what_nobody_ordered,
        provisioned_what_nobody_ordered,
        another_id_for_a_retry,
        another_status_for_a_retry,
        two_first_answers,
        no_first_answer,
        two_bodies_under_one_key,
        a_conflict_with_itself,
        a_server_error,
        never_accepted,
        at_another_place,
        somebody_elses_order_seen,
        a_status_that_failed,
        a_status_that_went_back,
        a_status_that_there_is_not,
        never_ended,
        never_seen,
        failed_without_a_reason_to,
        succeeded_although_it_failed,
        another_receipt,
        no_result,
        failed_for_another_reason,
        failed_without_its_tasks,
        a_payment_told_as_undone,
        an_item_told_as_undone,
        an_item_told_as_undone_that_was_done,
        an_item_not_told,
        a_record_that_says_something_else,
        a_record_too_many,
        a_record_too_few,
        an_execution_too_many,
    ],
)
def test_whatever_does_not_fit_spoils_the_verdict(spoil: Callable[[World], None]) -> None:
    world = World()
    spoil(world)

    assert world.judge().report()["verdict"] == "failed"


@pytest.mark.parametrize("spoil", [charged_twice, provisioned_twice])
def test_an_effect_that_took_place_twice_is_doubled(spoil: Callable[[World], None]) -> None:
    world = World()
    spoil(world)

    report = world.judge().report()
    assert (report["doubled"], report["max_effects_per_event"]) == (1, 2)


@pytest.mark.parametrize("spoil", [never_ended, never_seen])
def test_an_order_that_came_to_no_end_is_lost(spoil: Callable[[World], None]) -> None:
    world = World()
    spoil(world)

    assert world.judge().report()["lost"] == 1


def test_an_order_that_succeeded_without_its_effects_is_lost() -> None:
    world = World()
    never_charged(world)

    assert world.judge().report()["lost"] == 1


def test_the_first_answer_may_have_gone_to_a_client_that_hung_up() -> None:
    world = World()
    world.posted[GOOD.id] = [Posted(body=GOOD.body, reply=None), accepted(GOOD, replayed=True)]

    report = world.judge().report()
    assert (report["verdict"], report["hung_up"]) == ("ok", 1)


@pytest.mark.parametrize("told", [Task.DONE, Task.UNKNOWN])
def test_of_an_item_that_was_under_way_when_another_failed_may_be_unknown_what_it_did(told: Task) -> None:
    world = World()
    world.fails(ODD, "a task failed", "done", "not done", told)

    assert world.judge().report()["verdict"] == "ok"


@pytest.mark.parametrize("case", REFUSED, ids=lambda refused: refused.what)
def test_a_request_that_should_have_been_refused_and_was_not_is_a_problem(case: Any) -> None:
    said = {"type": f"urn:idempotent-events:orders:{case.problem}"}
    fine = Reply(status=case.status, headers={}, body=json.dumps(said))
    assert case.violations(fine) == []
    assert case.violations(Reply(status=202, headers={}, body=json.dumps(said)))
    if case.problem:
        assert case.violations(Reply(status=case.status, headers={}, body='{"type": "another"}'))


def test_another_body_is_charged_if_that_one_was_accepted() -> None:
    world = World()
    other = order_body(GOOD.id, items=GOOD.items, amount="99.99")
    world.posted[GOOD.id] = [accepted(GOOD, body=other), refused(GOOD, 409, GOOD.body)]
    world.payment = Downstream(partial(charges, {each.id: each for each in ORDERS}), dedupe=True)
    world.charge(GOOD, amount="99.99")
    for each in (ODD, UNHEARD, STOPPED):
        world.charge(each)

    assert world.judge().report()["violations"] == []
