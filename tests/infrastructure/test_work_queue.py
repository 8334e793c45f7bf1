"""Promises about the queues."""

from typing import Any

import pytest

from stacks.charges_stack import ChargesStack
from stacks.constructs.handler_function import HandlerFunction
from stacks.ingestion_stack import IngestionStack
from tests.infrastructure.synthesis import WORKLOADS, Workload, resolved

STAGES = ("dev", "prod", "sandbox")


@pytest.fixture(params=STAGES)
def stage(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=WORKLOADS)
def made(request: pytest.FixtureRequest, stage: str) -> Workload:
    return WORKLOADS[request.param](stage)


def receiver(made: Workload) -> HandlerFunction:
    """The function that the queue's messages are delivered to."""
    match made.stack:
        case IngestionStack(starter=starter):
            return starter
        case ChargesStack(consumer=consumer):
            return consumer
    raise AssertionError(f"who receives in {made.stack.node.id}?")


def test_only_the_messages_that_failed_come_back_to_the_queue(made: Workload) -> None:
    [(_, mapping)] = made.of_type("AWS::Lambda::EventSourceMapping")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert resolved(mapping["EventSourceArn"]) == f"<{made.logical_id(made.stack.work_queue.queue)}.Arn>"
    assert resolved(mapping["FunctionName"]) == f"<{made.logical_id(receiver(made).function)}>"


def test_the_receivers_concurrency_is_bounded(made: Workload) -> None:
    [(_, mapping)] = made.of_type("AWS::Lambda::EventSourceMapping")
    assert 2 <= mapping["ScalingConfig"]["MaximumConcurrency"] <= 10


def test_a_message_stays_invisible_for_six_times_the_receivers_timeout(made: Workload) -> None:
    queue = made.properties(made.stack.work_queue.queue)
    function = made.properties(receiver(made).function)
    [(_, mapping)] = made.of_type("AWS::Lambda::EventSourceMapping")
    window = mapping.get("MaximumBatchingWindowInSeconds", 0)
    assert queue["VisibilityTimeout"] >= 6 * function["Timeout"] + window


def test_a_message_that_keeps_failing_goes_to_the_dead_letter_queue(made: Workload) -> None:
    redrive = made.properties(made.stack.work_queue.queue)["RedrivePolicy"]
    dead_letters = made.logical_id(made.stack.work_queue.dead_letter_queue)
    assert resolved(redrive["deadLetterTargetArn"]) == f"<{dead_letters}.Arn>"
    assert redrive["maxReceiveCount"] >= 5


def test_dead_letters_are_kept_as_long_as_sqs_can(made: Workload) -> None:
    assert made.properties(made.stack.work_queue.dead_letter_queue)["MessageRetentionPeriod"] == 14 * 86_400


def test_the_dead_letter_queue_takes_from_the_work_queue_alone(made: Workload) -> None:
    allowed = made.properties(made.stack.work_queue.dead_letter_queue)["RedriveAllowPolicy"]
    name = made.properties(made.stack.work_queue.queue)["QueueName"]
    assert allowed["redrivePermission"] == "byQueue"
    assert [resolved(arn) for arn in allowed["sourceQueueArns"]] == [
        f"arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:{name}"
    ]


def test_every_queue_is_encrypted(made: Workload) -> None:
    queues = dict(made.of_type("AWS::SQS::Queue"))
    assert len(queues) >= 2
    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())


def test_every_queue_refuses_calls_without_tls(made: Workload) -> None:
    refusing = {
        resolved(queue)
        for _, policy in made.of_type("AWS::SQS::QueuePolicy")
        for queue in policy["Queues"]
        if any(_denies_plain_text(statement) for statement in policy["PolicyDocument"]["Statement"])
    }
    assert refusing == {f"<{logical_id}>" for logical_id, _ in made.of_type("AWS::SQS::Queue")}


def _denies_plain_text(statement: dict[str, Any]) -> bool:
    plain_text = {"Bool": {"aws:SecureTransport": "false"}}
    return bool(statement["Effect"] == "Deny" and statement["Condition"] == plain_text)
