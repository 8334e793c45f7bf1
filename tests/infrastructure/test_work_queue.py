"""Promises about the work queue and the dead-letter queue beside it."""

import pytest

from stacks.charges_stack import ChargesStack
from stacks.constructs.handler_function import HandlerFunction
from stacks.ingestion_stack import IngestionStack
from tests.infrastructure.synthesis import QUEUED, Queued, resolved

STAGES = ("dev", "prod", "sandbox")


@pytest.fixture(params=STAGES)
def stage(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=QUEUED)
def made(request: pytest.FixtureRequest, stage: str) -> Queued:
    return QUEUED[request.param](stage)


def receiver(made: Queued) -> HandlerFunction:
    """The function that the queue's messages are delivered to."""
    match made.stack:
        case IngestionStack(starter=starter):
            return starter
        case ChargesStack(consumer=consumer):
            return consumer
    raise AssertionError(f"who receives in {made.stack.node.id}?")


def test_only_the_messages_that_failed_come_back_to_the_queue(made: Queued) -> None:
    [(_, mapping)] = made.of_type("AWS::Lambda::EventSourceMapping")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert resolved(mapping["EventSourceArn"]) == f"<{made.logical_id(made.stack.work_queue.queue)}.Arn>"
    assert resolved(mapping["FunctionName"]) == f"<{made.logical_id(receiver(made).function)}>"


def test_the_receivers_concurrency_is_bounded(made: Queued) -> None:
    [(_, mapping)] = made.of_type("AWS::Lambda::EventSourceMapping")
    assert 2 <= mapping["ScalingConfig"]["MaximumConcurrency"] <= 10


def test_a_message_stays_invisible_for_six_times_the_receivers_timeout(made: Queued) -> None:
    queue = made.properties(made.stack.work_queue.queue)
    function = made.properties(receiver(made).function)
    [(_, mapping)] = made.of_type("AWS::Lambda::EventSourceMapping")
    window = mapping.get("MaximumBatchingWindowInSeconds", 0)
    assert queue["VisibilityTimeout"] >= 6 * function["Timeout"] + window


def test_a_message_that_keeps_failing_goes_to_the_dead_letter_queue(made: Queued) -> None:
    redrive = made.properties(made.stack.work_queue.queue)["RedrivePolicy"]
    dead_letters = made.logical_id(made.stack.work_queue.dead_letter_queue)
    assert resolved(redrive["deadLetterTargetArn"]) == f"<{dead_letters}.Arn>"
    assert redrive["maxReceiveCount"] >= 5


def test_the_dead_letter_queue_takes_from_the_work_queue_alone(made: Queued) -> None:
    allowed = made.properties(made.stack.work_queue.dead_letter_queue)["RedriveAllowPolicy"]
    name = made.properties(made.stack.work_queue.queue)["QueueName"]
    assert allowed["redrivePermission"] == "byQueue"
    assert [resolved(arn) for arn in allowed["sourceQueueArns"]] == [
        f"arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:{name}"
    ]
