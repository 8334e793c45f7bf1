"""GET /v1/orders/{key}: the caller's own order, and of all others not even that they exist."""

import json
from typing import Any

import pytest

from orders.records import Status
from tests.unit.aws import refusal
from tests.unit.orders.conftest import Hook
from tests.unit.orders.edge import RESULT, RETENTION, TASKS, Edge
from tests.unit.orders.requests import ALICE, BOB, BODY, KEY, role, token

DESCRIBED: dict[Status, dict[str, Any]] = {
    Status.ACCEPTED: {},
    Status.RUNNING: {},
    Status.SUCCEEDED: {"result": json.loads(RESULT)},
    Status.FAILED: {"reason": "a task failed", "tasks": json.loads(TASKS)},
}


@pytest.mark.parametrize("status", list(Status))
def test_each_status_is_told_with_what_belongs_to_it(status: Status, edge: Edge) -> None:
    edge.post()
    edge.bring_to(status)
    answer = edge.get()
    assert answer.status == 200
    assert answer.content == {"id": "order-1", "status": status.value, **DESCRIBED[status]}
    assert answer.headers == {"Cache-Control": "no-store", "Content-Type": "application/json"}


def test_an_order_that_succeeded_after_all_tells_of_no_failure(edge: Edge) -> None:
    edge.post()
    edge.bring_to(Status.FAILED)
    edge.bring_to(Status.SUCCEEDED)
    assert edge.get().content.keys() == {"id", "status", "result"}


def test_a_role_is_told_in_any_of_its_sessions(edge: Edge) -> None:
    edge.post(caller=role("session-1"))
    assert edge.get(caller=role("session-2")).status == 200


def test_what_is_not_there_and_what_is_not_yours_are_answered_with_the_same_bytes(edge: Edge) -> None:
    edge.post(caller=ALICE)
    unknown = edge.get("never-accepted")
    assert (unknown.status, unknown.problem) == (404, "order-not-found")
    keys = ["short", "k" * 129, f'"{KEY}"', f"{KEY}\n", f" {KEY}", "schlüssel-1234", "a/b/c/d/e", "", None]
    malformed = [edge.get(key) for key in keys]
    others = [edge.get(caller=who) for who in (BOB, token("alice"), role("session-1", "AIDAALICE"))]
    edge.now += RETENTION
    expired = edge.get()
    answers = {json.dumps(answer.proxied) for answer in (unknown, *malformed, *others, expired)}
    assert len(answers) == 1


def test_an_order_is_told_up_to_the_second_of_its_expiry(edge: Edge) -> None:
    edge.post()
    edge.now += RETENTION - 1
    assert edge.get().status == 200
    edge.now += 1
    assert edge.get().status == 404


def test_of_two_callers_with_one_key_each_is_told_of_his_own(edge: Edge) -> None:
    edge.post(caller=ALICE)
    edge.post(BODY + " ", caller=BOB)
    assert [edge.get(caller=who).content["id"] for who in (ALICE, BOB)] == ["order-1", "order-2"]


def test_without_a_caller_nothing_is_read(edge: Edge, hook: Hook) -> None:
    sent: list[str] = []
    hook("request-created.dynamodb", lambda operation_name, **_: sent.append(operation_name))
    answer = edge.get(caller={"identity": None, "authorizer": None})
    assert (answer.status, answer.problem) == (403, "caller-unknown")
    assert sent == []


def test_what_is_no_key_is_not_looked_up(edge: Edge, hook: Hook) -> None:
    sent: list[str] = []
    hook("request-created.dynamodb", lambda operation_name, **_: sent.append(operation_name))
    edge.get("short")
    edge.get(None)
    assert sent == []


def test_what_the_post_has_written_the_get_sees(edge: Edge, hook: Hook) -> None:
    """A read that may lag behind would answer a client whose POST got 202 that there is no such order."""
    reads: list[dict[str, Any]] = []
    hook("provide-client-params.dynamodb.GetItem", lambda params, **_: reads.append(params))
    edge.get()
    assert [read["ConsistentRead"] for read in reads] == [True]


def test_reading_changes_nothing(edge: Edge) -> None:
    edge.post()
    before = edge.order()
    edge.now += 100
    edge.get()
    assert edge.order() == before


def test_a_table_that_does_not_answer_is_an_outage(edge: Edge, hook: Hook) -> None:
    def refuse(**_: Any) -> None:
        raise refusal("ThrottlingException")

    hook("before-parameter-build.dynamodb.GetItem", refuse)
    answer = edge.get()
    assert (answer.status, answer.problem) == (503, "unavailable")
    assert int(answer.headers["Retry-After"]) > 0
