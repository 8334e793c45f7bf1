"""Promises about every queue, whatever it is for."""

from typing import Any

import pytest

from tests.infrastructure.synthesis import WORKLOADS, Workload, resolved


@pytest.fixture(params=["dev", "prod", "sandbox"])
def stage(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=WORKLOADS)
def made(request: pytest.FixtureRequest, stage: str) -> Workload:
    return WORKLOADS[request.param](stage)


def test_every_queue_is_encrypted(made: Workload) -> None:
    queues = dict(made.of_type("AWS::SQS::Queue"))
    assert queues
    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())


def test_dead_letters_are_kept_as_long_as_sqs_can(made: Workload) -> None:
    for logical_id, queue in made.of_type("AWS::SQS::Queue"):
        if "DeadLetterQueue" in logical_id:
            assert queue["MessageRetentionPeriod"] == 14 * 86_400


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
