"""A task's effect through the real layer: once per execution, then answered with its first receipt."""

import time
from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyPersistenceLayerError,
)

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from orders.task_records import CHARGE_PAYMENT, PROVISION_ITEM, record_id, task_key
from orders.tasks import attempt_of
from tests.unit.aws import refusal
from tests.unit.conftest import Lines
from tests.unit.orders.conftest import Hook
from tests.unit.orders.requests import ORDER
from tests.unit.orders.tables import TASKS, items
from tests.unit.orders.task_workers import (
    EXECUTION,
    MARGIN,
    OTHER_EXECUTION,
    RETENTION,
    Dies,
    Workers,
    answering,
    raising,
    workers,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LONG_OVER = -60_000  # milliseconds left: the lease of such a call ended a minute ago
ERRORS = [NotApplied("HTTP 429"), Rejected("HTTP 402"), OutcomeUnknown("HTTP 500"), ValueError("ours")]


@pytest.fixture
def at_work(dynamodb: "DynamoDBClient", monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    with workers(dynamodb, monkeypatch) as wired:
        yield wired


def test_the_keys_of_all_tasks_of_all_executions_are_different() -> None:
    keys = {
        task_key(execution, task, number)
        for execution in (EXECUTION, OTHER_EXECUTION)
        for task in (CHARGE_PAYMENT, PROVISION_ITEM)
        for number in (None, *range(100))
    }
    assert len(keys) == 404
    assert len({record_id(key) for key in keys}) == 404
    assert task_key("e", "charge-payment") == "e:charge-payment"
    assert task_key("e", "provision-item", 0) == "e:provision-item:0"


def test_a_task_asks_its_downstream_under_its_own_key(at_work: Workers) -> None:
    assert at_work.charge() == {"receipt": "receipt-1"}
    assert at_work.provision(0) == {"receipt": "receipt-1"}
    assert at_work.provision(1, retry=3) == {"receipt": "receipt-2"}
    assert at_work.payment.calls == [
        {
            "key": f"{EXECUTION}:charge-payment",
            "attempt": 1,
            "content": {"orderId": "O-1", **ORDER["payment"]},
        }
    ]
    content = {"orderId": "O-1", **ORDER["items"][0]}
    assert at_work.provisioning.calls == [
        {"key": f"{EXECUTION}:provision-item:0", "attempt": 1, "content": content},
        {"key": f"{EXECUTION}:provision-item:1", "attempt": 4, "content": content},
    ]


def test_a_record_is_found_under_the_id_that_powertools_gives_it(
    at_work: Workers, dynamodb: "DynamoDBClient"
) -> None:
    at_work.charge()
    at_work.provision(7)
    assert {item["id"] for item in items(dynamodb, TASKS)} == {
        record_id(task_key(EXECUTION, CHARGE_PAYMENT)),
        record_id(task_key(EXECUTION, PROVISION_ITEM, 7)),
    }


def test_a_record_holds_the_receipt_and_nothing_of_the_order(
    at_work: Workers, dynamodb: "DynamoDBClient"
) -> None:
    before = int(time.time())
    at_work.charge()
    (item,) = items(dynamodb, TASKS)
    assert (item["status"], item["data"]) == ("COMPLETED", '{"receipt": "receipt-1"}')
    assert before + RETENTION <= int(item["expiration"]) <= time.time() + RETENTION
    assert ORDER["payment"]["token"] not in str(item)


def test_a_retry_or_a_redrive_is_answered_with_the_first_receipt(at_work: Workers) -> None:
    """A redriven execution keeps its name."""
    first = at_work.charge()
    assert [at_work.charge(retry=retry) for retry in (1, 2, 0)] == [first] * 3
    assert len(at_work.payment.calls) == 1


def test_another_process_is_answered_with_the_first_receipt_too(
    at_work: Workers, dynamodb: "DynamoDBClient", monkeypatch: pytest.MonkeyPatch
) -> None:
    first = at_work.provision(3)
    with workers(dynamodb, monkeypatch) as fresh:
        assert fresh.provision(3) == first
        assert fresh.provisioning.calls == []


def test_two_executions_never_share_a_receipt(at_work: Workers) -> None:
    assert at_work.charge(EXECUTION) != at_work.charge(OTHER_EXECUTION)
    assert at_work.provision(0, EXECUTION) != at_work.provision(0, OTHER_EXECUTION)
    assert len(set(at_work.payment.keys)) == len(set(at_work.provisioning.keys)) == 2


def test_two_items_of_one_order_never_share_a_receipt_although_they_are_alike(at_work: Workers) -> None:
    assert len({at_work.provision(number)["receipt"] for number in range(5)}) == 5


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_reaches_step_functions_by_its_name_and_leaves_no_record(
    error: Exception, at_work: Workers, dynamodb: "DynamoDBClient"
) -> None:
    at_work.payment.plays = [raising(error)]
    with pytest.raises(Exception, match=str(error)) as raised:
        at_work.charge()
    assert type(raised.value) is type(error)
    assert items(dynamodb, TASKS) == []
    assert at_work.charge(retry=1) == {"receipt": "receipt-1"}
    assert [call["attempt"] for call in at_work.payment.calls] == [1, 2]
    assert len(set(at_work.payment.keys)) == 1


class _Unheard(Exception):  # noqa: N818 - the downstream's answer was
    pass


def test_an_effect_whose_answer_was_lost_is_not_caused_again(at_work: Workers) -> None:
    """Powertools forgets the try; the downstream knows the key."""

    def lost(receipt: str) -> str:
        at_work.payment.receipts[at_work.payment.keys[-1]] = receipt
        raise _Unheard

    at_work.payment.plays = [lost]
    with pytest.raises(_Unheard):
        at_work.charge()
    assert at_work.charge(retry=1) == {"receipt": "receipt-1"}
    assert len(at_work.payment.receipts) == 1


@pytest.fixture
def busy(at_work: Workers) -> Iterator[Workers]:
    """A charge in another thread, under way until the test is over."""
    begun, over = Event(), Event()

    def wait(receipt: str) -> str:
        begun.set()
        assert over.wait(timeout=30)
        return receipt

    at_work.payment.plays = [wait]
    thread = Thread(target=at_work.charge)
    thread.start()
    assert begun.wait(timeout=30)
    yield at_work
    over.set()
    thread.join(timeout=30)
    assert not thread.is_alive()


def test_the_attempt_rises_over_retries_and_redrives() -> None:
    """A redriven state counts its retries anew; a downstream may fence with the number."""
    attempts = [
        attempt_of({"redriveCount": redrive, "retryCount": retry})
        for redrive in (None, 1, 2, 10)
        for retry in (0, 1, 300)
    ]
    assert attempts == sorted(set(attempts))
    assert attempts[0] == 1


def test_a_task_that_another_is_at_is_in_progress(busy: Workers) -> None:
    with pytest.raises(IdempotencyAlreadyInProgressError):
        busy.charge(retry=1)
    assert len(busy.payment.calls) == 1


def test_one_in_progress_keeps_nobody_else_waiting(busy: Workers) -> None:
    assert busy.charge(OTHER_EXECUTION)
    assert busy.provision(0)


def test_the_record_of_a_worker_that_died_is_in_progress_for_as_long_as_it_might_have_run(
    at_work: Workers, dynamodb: "DynamoDBClient"
) -> None:
    at_work.payment.plays = [raising(Dies())]
    before = time.time()
    with pytest.raises(Dies):
        at_work.charge(milliseconds=30_000)
    (item,) = items(dynamodb, TASKS)
    lease = int(item["in_progress_expiration"]) / 1000
    assert before + 30 + MARGIN - 0.1 <= lease <= time.time() + 30 + MARGIN + 0.1
    with pytest.raises(IdempotencyAlreadyInProgressError):
        at_work.charge(retry=1)


def test_after_that_time_the_next_try_takes_over_with_the_same_key(at_work: Workers) -> None:
    at_work.payment.plays = [raising(Dies())]
    with pytest.raises(Dies):
        at_work.charge(milliseconds=LONG_OVER)
    assert at_work.charge(retry=1) == {"receipt": "receipt-1"}
    assert len(set(at_work.payment.keys)) == 1


@pytest.mark.parametrize("late", [raising(NotApplied("HTTP 429")), answering("another receipt")])
def test_a_worker_that_is_late_takes_nothing_from_the_one_that_took_over(
    late: Callable[[str], str], at_work: Workers, dynamodb: "DynamoDBClient", metric_lines: Lines
) -> None:
    def overtaken(receipt: str) -> str | None:
        at_work.charge(retry=1)
        return late(receipt)

    at_work.payment.plays = [overtaken]
    with pytest.raises((NotApplied, IdempotencyPersistenceLayerError)):
        at_work.charge(milliseconds=LONG_OVER)
    (item,) = items(dynamodb, TASKS)
    assert (item["status"], item["data"]) == ("COMPLETED", '{"receipt": "receipt-1"}')
    assert [line["LostClaims"] for line in metric_lines()] == [[1.0]]
    assert at_work.charge(retry=2) == {"receipt": "receipt-1"}


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
def test_a_lost_answer_of_the_table_does_not_matter(
    operation: str, at_work: Workers, lose_answers: Callable[[str], None]
) -> None:
    lose_answers(operation)
    if operation == "DeleteItem":
        at_work.payment.plays = [raising(NotApplied("HTTP 429"))]
        with pytest.raises(NotApplied):
            at_work.charge()
    assert at_work.charge() == at_work.charge(retry=1) == {"receipt": "receipt-1"}
    assert len(at_work.payment.receipts) == 1


def test_without_its_table_a_task_does_nothing(at_work: Workers, hook: Hook) -> None:
    def refuse(**_: Any) -> None:
        raise refusal("ThrottlingException")

    hook("before-parameter-build.dynamodb.PutItem", refuse)
    with pytest.raises(IdempotencyPersistenceLayerError):
        at_work.charge()
    assert at_work.payment.calls == []


def test_a_receipt_that_could_not_be_kept_is_had_again_from_the_downstream(
    at_work: Workers, hook: Hook
) -> None:
    refused: list[str] = []

    def refuse_once(**_: Any) -> None:
        if not refused:
            refused.append("UpdateItem")
            raise refusal("ThrottlingException")

    hook("before-parameter-build.dynamodb.UpdateItem", refuse_once)
    with pytest.raises(IdempotencyPersistenceLayerError):
        at_work.charge(milliseconds=LONG_OVER)
    assert at_work.charge(retry=1) == {"receipt": "receipt-1"}
    assert len(at_work.payment.receipts) == 1


@pytest.mark.parametrize(
    ("answer", "receipt"),
    [
        ("", ""),
        (None, ""),
        ("r" * 160, "r" * 160),
        ("r" * 161, "r" * 160),
        ("é\u2603😀" * 100, "é\u2603😀" * 53 + "é"),
    ],
)
def test_a_receipt_is_the_start_of_the_answer(answer: str | None, receipt: str, at_work: Workers) -> None:
    """A hundred of them travel with the execution."""
    at_work.payment.plays = [answering(answer)]
    assert at_work.charge() == {"receipt": receipt}
    assert at_work.charge(retry=1) == {"receipt": receipt}


def test_a_task_says_that_it_is_done_and_nothing_of_the_order(at_work: Workers, log_lines: Lines) -> None:
    at_work.charge()
    (line,) = [line for line in log_lines() if line["message"] == "done"]
    assert line["task"] == f"{EXECUTION}:charge-payment"
    assert ORDER["payment"]["token"] not in str(log_lines())
