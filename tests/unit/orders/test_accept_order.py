"""POST /v1/orders: one order per caller and key, whatever is repeated, lost, changed or thrown away."""

import base64
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

from orders import body
from orders.records import Status
from tests.unit.aws import refusal
from tests.unit.conftest import Lines
from tests.unit.orders.conftest import Hook
from tests.unit.orders.edge import NOW, RETENTION, Edge, request
from tests.unit.orders.requests import ALICE, BOB, BODY, KEY, ORDER, OTHER_BODY, Answer, post, role, token
from tests.unit.orders.tables import ORDERS, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LoseAnswers = Callable[[str], None]

INVALID = ["", "no json", "{}", BODY.replace("EUR", "eur"), " " * 65_537, '{"items": [%s0]}' % ("0," * 100)]
OUTAGES: list[Exception] = [
    refusal("ThrottlingException"),
    refusal("AccessDeniedException"),
    refusal("ExecutionLimitExceeded"),
    ConnectTimeoutError(endpoint_url="https://states.invalid"),
    ReadTimeoutError(endpoint_url="https://states.invalid"),
]


def _same(answer: Answer, first: Answer) -> bool:
    """Verbatim, but for the header that says so."""
    marked = first.headers | {"Idempotency-Replayed": "true"}
    return (answer.status, answer.text, answer.headers) == (first.status, first.text, marked)


def test_a_new_order_is_accepted_recorded_and_started(edge: Edge, dynamodb: "DynamoDBClient") -> None:
    answer = edge.post()
    assert answer.status == 202
    assert answer.content == {"id": "order-1", "status": "ACCEPTED"}
    assert answer.headers == {
        "Cache-Control": "no-store",
        "Content-Type": "application/json",
        "Location": f"/live/v1/orders/{KEY}",
    }
    (item,) = items(dynamodb, ORDERS)
    assert item["status"] == "ACCEPTED"
    assert item["expiresAt"] == str(NOW + RETENTION)
    assert (item["caller"], item["key"]) == ("user:123456789012:AIDAALICE", KEY)
    assert ORDER["payment"]["token"] not in str(item)
    (execution,) = edge.executions
    assert json.loads(execution.input) == {"orderId": "order-1", "requestId": request().id, **ORDER}


def test_the_executions_name_fits_whatever_the_key(edge: Edge) -> None:
    for key in ("k" * 8, "k" * 128, "a.b.c.d.e", "-_-_-_-_-"):
        assert edge.post(key=key).status == 202
    assert [len(name) for name in edge.stepfunctions.executions] == [64] * 4


def test_location_names_the_bare_key(edge: Edge) -> None:
    assert edge.post(key=f'"{KEY}"').headers["Location"] == f"/live/v1/orders/{KEY}"


def test_bare_and_quoted_are_one_order(edge: Edge) -> None:
    first = edge.post(key=f'"{KEY}"')
    assert _same(edge.post(key=KEY), first)


@pytest.mark.parametrize("status", list(Status))
def test_the_same_again_is_answered_as_the_first_time_whatever_has_become_of_it(
    status: Status, edge: Edge
) -> None:
    first = edge.post()
    edge.bring_to(status)
    edge.now += 3_600
    for _ in range(3):
        assert _same(edge.post(), first)
    assert len(edge.executions) == 1
    assert edge.order().status is status


@pytest.mark.parametrize("status", list(Status))
def test_the_history_of_its_execution_may_be_long_gone(status: Status, edge: Edge) -> None:
    """The name is free again by then, and only an order that is still ACCEPTED would be started under it."""
    first = edge.post()
    edge.bring_to(status)
    edge.stepfunctions.executions.clear()
    assert _same(edge.post(), first)
    assert bool(edge.executions) is (status is Status.ACCEPTED)


def test_a_body_in_base64_is_the_same_as_in_plain(edge: Edge) -> None:
    first = edge.post(BODY)
    assert _same(edge.post(base64.b64encode(BODY.encode()).decode(), base64=True), first)


def test_location_stays_what_it_was_although_the_path_to_the_api_has_changed(edge: Edge) -> None:
    first = edge.post()
    event = post()
    event["requestContext"]["path"] = "/v1/orders/"
    assert _same(edge.send(event), first)


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("other", [OTHER_BODY, BODY + " ", *INVALID], ids=range(2 + len(INVALID)))
def test_another_body_conflicts_whatever_it_is_and_whatever_has_become_of_the_order(
    other: str, status: Status, edge: Edge, dynamodb: "DynamoDBClient"
) -> None:
    edge.post()
    edge.bring_to(status)
    before = items(dynamodb, ORDERS)
    answer = edge.post(other)
    assert (answer.status, answer.problem) == (409, "key-reused")
    assert not answer.replayed
    assert items(dynamodb, ORDERS) == before
    assert len(edge.executions) == 1


@pytest.mark.parametrize("invalid", INVALID, ids=range(len(INVALID)))
def test_a_body_that_is_refused_does_not_use_up_the_key(
    invalid: str, edge: Edge, dynamodb: "DynamoDBClient"
) -> None:
    assert edge.post(invalid).status in (400, 413, 422)
    assert items(dynamodb, ORDERS) == []
    assert edge.executions == []
    answer = edge.post(BODY)
    assert (answer.status, answer.replayed) == (202, False)


@pytest.mark.parametrize("key", [None, "", "short", "k" * 129, "a key, and another"])
def test_without_a_key_nothing_is_looked_at(key: str | None, edge: Edge, dynamodb: "DynamoDBClient") -> None:
    answer = edge.post("no json", key=key)
    assert answer.status == 400
    assert answer.problem in ("key-missing", "key-malformed")
    assert items(dynamodb, ORDERS) == []


def test_without_a_caller_not_even_the_key_is_looked_at(edge: Edge) -> None:
    answer = edge.post("no json", key=None, caller={"identity": {}})
    assert (answer.status, answer.problem) == (403, "caller-unknown")


def test_a_lost_answer_of_the_record_is_found_to_be_ones_own(
    edge: Edge, lose_answers: LoseAnswers, dynamodb: "DynamoDBClient"
) -> None:
    """The SDK sends it again, and the condition fails on the item that it has just written."""
    lose_answers("PutItem")
    answer = edge.post()
    assert (answer.status, answer.replayed) == (202, False)
    assert [item["orderId"] for item in items(dynamodb, ORDERS)] == [answer.content["id"]]
    assert len(edge.executions) == 1


def test_a_lost_answer_of_the_start_is_found_by_the_retry(edge: Edge) -> None:
    edge.stepfunctions.answers_lost.append(ReadTimeoutError(endpoint_url="https://states.invalid"))
    assert edge.post().status == 503
    assert edge.post().replayed
    assert len(edge.executions) == 1


@pytest.mark.parametrize("ended", ["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"])
def test_a_name_that_is_taken_means_started(ended: str, edge: Edge) -> None:
    """Also by an execution that has ended before its record said RUNNING."""
    edge.stepfunctions.answers_lost.append(ReadTimeoutError(endpoint_url="https://states.invalid"))
    edge.post()
    (execution,) = edge.executions
    execution.status = ended
    answer = edge.post()
    assert (answer.status, answer.replayed) == (202, True)
    assert len(edge.executions) == 1


@pytest.mark.parametrize("outage", OUTAGES, ids=range(len(OUTAGES)))
def test_an_order_that_could_not_be_started_is_started_by_the_retry(outage: Exception, edge: Edge) -> None:
    edge.stepfunctions.failures += [outage, outage]
    for _ in range(2):
        answer = edge.post()
        assert (answer.status, answer.problem) == (503, "unavailable")
        assert answer.headers["Retry-After"] == "2"
        assert edge.executions == []
    answer = edge.post()
    assert (answer.status, answer.replayed) == (202, True)
    (execution,) = edge.executions
    assert json.loads(execution.input)["orderId"] == answer.content["id"] == "order-1"


class Crash(BaseException):
    pass


def test_what_was_accepted_is_started_even_if_the_rules_refuse_it_by_now(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deploy that tightens them must strand no order between its record and its start."""
    with monkeypatch.context() as outage:
        outage.setattr(edge.stepfunctions, "start_execution", _throttled)
        assert edge.post().status == 503
    monkeypatch.setattr(body, "MAX_ITEMS", 0)
    assert edge.post(OTHER_BODY).status == 409
    assert edge.executions == []
    assert (edge.post().status, len(edge.executions)) == (202, 1)
    assert json.loads(edge.executions[0].input)["items"] == ORDER["items"]


def _throttled(**_: object) -> None:
    raise refusal("ThrottlingException")


def test_a_crash_between_record_and_start_is_healed_by_any_retry(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(**_: object) -> None:
        raise Crash

    with monkeypatch.context() as crashing:
        crashing.setattr(edge.stepfunctions, "start_execution", crash)
        with pytest.raises(Crash):
            edge.post()
    assert edge.order().status is Status.ACCEPTED
    edge.now += 6 * 86_400
    answer = edge.post()
    assert (answer.status, answer.content["id"]) == (202, "order-1")
    assert len(edge.executions) == 1


def test_another_body_neither_heals_nor_starts(edge: Edge) -> None:
    edge.stepfunctions.failures.append(refusal("ThrottlingException"))
    edge.post()
    assert edge.post(OTHER_BODY).status == 409
    assert edge.executions == []


@pytest.mark.parametrize("body", [BODY, "no json"])
def test_a_table_that_does_not_answer_is_an_outage_and_starts_nothing(
    body: str, edge: Edge, hook: Hook
) -> None:
    def refuse(**_: Any) -> None:
        raise refusal("ProvisionedThroughputExceededException")

    for operation in ("PutItem", "GetItem"):
        hook(f"before-parameter-build.dynamodb.{operation}", refuse)
    answer = edge.post(body)
    assert (answer.status, answer.problem) == (503, "unavailable")
    assert edge.executions == []


def test_an_expired_record_that_is_still_there_is_no_order_any_more(
    edge: Edge, dynamodb: "DynamoDBClient"
) -> None:
    """TTL deletes late. The execution has another name: nothing depends on how long names are taken."""
    first = edge.post()
    edge.bring_to(Status.SUCCEEDED)
    edge.now = edge.order().expires_at - 1
    assert edge.post().replayed
    edge.now += 1
    answer = edge.post(OTHER_BODY)
    assert (answer.status, answer.replayed) == (202, False)
    assert answer.content["id"] != first.content["id"]
    assert len(edge.executions) == 2
    (item,) = items(dynamodb, ORDERS)
    assert (item["status"], "result" in item) == ("ACCEPTED", False)
    assert item["expiresAt"] == str(edge.now + RETENTION)


def test_with_the_same_body_too_an_expired_key_is_a_new_order(edge: Edge) -> None:
    edge.post()
    edge.now += RETENTION
    answer = edge.post()
    assert (answer.status, answer.replayed) == (202, False)
    assert len(edge.executions) == 2


def test_an_invalid_body_under_an_expired_key_is_invalid_and_no_conflict(edge: Edge) -> None:
    edge.post()
    edge.now += RETENTION
    assert edge.post("{}").status == 422


def test_another_caller_has_the_key_for_himself(edge: Edge) -> None:
    """He can neither see, replay nor block it."""
    answers = [edge.post(caller=who) for who in (ALICE, BOB, token("alice"), role("session-1"))]
    assert [answer.status for answer in answers] == [202] * 4
    assert not any(answer.replayed for answer in answers)
    assert len({answer.content["id"] for answer in answers}) == 4
    assert len(edge.executions) == 4
    assert edge.post(OTHER_BODY, caller=BOB).status == 409
    assert edge.post(caller=ALICE).content == answers[0].content


def test_another_caller_is_answered_as_if_nobody_had_the_key(edge: Edge) -> None:
    untouched = [edge.post(body, caller=BOB).proxied for body in INVALID]
    edge.post(caller=ALICE)
    assert [edge.post(body, caller=BOB).proxied for body in INVALID] == untouched
    assert edge.post(OTHER_BODY, caller=BOB).headers.keys() == edge.post(key="free-key-1").headers.keys()


def test_a_retry_from_another_session_of_the_role_finds_its_order(edge: Edge) -> None:
    first = edge.post(caller=role("session-1"))
    assert _same(edge.post(caller=role("session-2")), first)


def test_a_caller_has_many_keys(edge: Edge) -> None:
    assert len({edge.post(key=f"order-key-{number}").content["id"] for number in range(5)}) == 5
    assert len(edge.executions) == 5


def test_upper_and_lower_case_are_two_keys(edge: Edge) -> None:
    assert edge.post(key="key-abcdef").content["id"] != edge.post(key="key-ABCDEF").content["id"]


def test_one_write_decides_and_nothing_is_read_before_it(edge: Edge, hook: Hook) -> None:
    sent: list[str] = []
    hook("request-created.dynamodb", lambda operation_name, **_: sent.append(operation_name))
    edge.post()
    edge.post()
    edge.post(OTHER_BODY)
    assert sent == ["PutItem"] * 3


def test_new_orders_replays_conflicts_and_outages_are_counted(edge: Edge, metric_lines: Lines) -> None:
    edge.post()
    edge.post()
    edge.post(OTHER_BODY)
    edge.stepfunctions.failures.append(refusal("ThrottlingException"))
    edge.post(key="another-key")
    names = ("Accepted", "Replays", "Conflicts", "Unavailable")
    counted = [name for line in metric_lines() for name in names if name in line]
    assert counted == ["Accepted", "Replays", "Conflicts", "Accepted", "Unavailable"]
