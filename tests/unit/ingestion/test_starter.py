"""Each message becomes one execution or one dead letter; otherwise it stays on the queue."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from ingestion.starter import Starter, select
from tests.unit.aws import Queue, StepFunctions, refusal
from tests.unit.conftest import Lines
from tests.unit.ingestion.messages import message
from tests.unit.ingestion.test_intake import RULES

URL = "https://queues.invalid/dlq"


class Workload:
    def __init__(self) -> None:
        self.stepfunctions = StepFunctions()
        self.queue = Queue()
        self.starter = Starter(
            RULES,
            stepfunctions=self.stepfunctions,
            sqs=self.queue,
            machine=self.stepfunctions.machine,
            dlq_url=URL,
        )

    def take(self, record: dict[str, Any]) -> None:
        self.starter.take(record)


@pytest.fixture
def workload() -> Workload:
    return Workload()


def test_a_message_starts_one_execution(workload: Workload, log_lines: Lines) -> None:
    workload.take(message({"id": 1}, message_id="m-1"))
    (execution,) = workload.stepfunctions.executions.values()
    assert '"businessKey":"charge:1"' in execution.input
    assert workload.queue.sent == []
    (line,) = log_lines()
    assert (line["message"], line["event_key"], line["message_id"]) == (
        "started",
        "ingestion/charge:1",
        "m-1",
    )


def test_a_redelivery_while_it_runs_is_the_same_execution(workload: Workload) -> None:
    for count in (1, 2):
        workload.take(message({"id": 1}, receive_count=count))
    assert len(workload.stepfunctions.executions) == 1


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"])
def test_a_redelivery_after_its_end_is_acknowledged(
    status: str, workload: Workload, log_lines: Lines
) -> None:
    """However it ended: it, or the reconciler, accounts for the event."""
    workload.take(message({"id": 1}))
    for execution in workload.stepfunctions.executions.values():
        execution.status = status
    workload.take(message({"id": 1}, receive_count=2))
    assert len(workload.stepfunctions.executions) == 1
    assert [line["message"] for line in log_lines()] == ["started", "already started"]


def test_a_producers_resend_is_an_execution_of_its_own(workload: Workload) -> None:
    """The ledger alone judges duplicates."""
    workload.take(message({"id": 1}, message_id="m-1"))
    workload.take(message({"id": 1}, message_id="m-2"))
    assert len(workload.stepfunctions.executions) == 2


@pytest.mark.parametrize(
    "failure",
    [
        refusal("ThrottlingException", "StartExecution"),
        refusal("ExecutionLimitExceeded", "StartExecution"),
        refusal("AccessDeniedException", "StartExecution"),
        refusal("InvalidName", "StartExecution"),
        ReadTimeoutError(endpoint_url="https://states.invalid"),
    ],
    ids=lambda failure: type(failure).__name__ + str(failure)[:60],
)
def test_a_start_that_is_not_known_to_have_happened_keeps_the_message(
    failure: Exception, workload: Workload
) -> None:
    workload.stepfunctions.failures.append(failure)
    with pytest.raises(type(failure)):
        workload.take(message({"id": 1}))
    assert workload.queue.sent == []
    workload.take(message({"id": 1}, receive_count=2))
    assert len(workload.stepfunctions.executions) == 1


POISON: dict[str, Callable[[], dict[str, Any]]] = {
    "invalid-json": lambda: message("no json"),
    "no-key": lambda: message({}),
    "too-large": lambda: message({"id": 1, "x": "y" * 300_000}),
}


@pytest.mark.parametrize("reason", POISON)
def test_what_cannot_start_is_dead_lettered_at_once_and_verbatim(
    reason: str, workload: Workload, metric_lines: Lines
) -> None:
    record = POISON[reason]()
    workload.take(record)
    assert workload.stepfunctions.executions == {}
    assert [(copy["url"], copy["body"]) for copy in workload.queue.sent] == [(URL, record["body"])]
    assert workload.queue.reasons == [reason]
    (metric,) = metric_lines()
    assert (metric["DeadLettered"], metric["Reason"]) == ([1.0], reason)


@pytest.mark.parametrize("reason", POISON)
def test_a_copy_that_sqs_refuses_keeps_the_message(
    reason: str, workload: Workload, metric_lines: Lines
) -> None:
    workload.queue.failures.append(refusal("OverLimit", "SendMessage"))
    with pytest.raises(ClientError):
        workload.take(POISON[reason]())
    assert metric_lines() == []


def test_an_expression_is_compiled_once_and_finds_nothing_where_it_does_not_apply() -> None:
    search = select("length(items)")
    assert search({"items": [1, 2]}) == 2
    assert search({"items": 7}) is None
