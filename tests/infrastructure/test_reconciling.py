"""Promises about the schedule that sees to executions which broke off."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.infrastructure.synthesis import Synthesized, resolved, synthesized


@pytest.fixture
def made() -> Synthesized:
    return synthesized()


@pytest.fixture
def schedule(made: Synthesized) -> Mapping[str, Any]:
    return made.properties(made.stack.reconciling.schedule)


def test_the_reconciler_runs_every_five_minutes(made: Synthesized, schedule: Mapping[str, Any]) -> None:
    assert schedule["ScheduleExpression"] == "rate(5 minutes)"
    assert schedule["State"] == "ENABLED"
    function = made.logical_id(made.stack.reconciler.function)
    assert resolved(schedule["Target"]["Arn"]) == f"<{function}.Arn>"


def test_a_run_ends_before_the_next_begins(made: Synthesized) -> None:
    assert made.properties(made.stack.reconciler.function)["Timeout"] < 300


def test_a_run_that_never_reached_the_function_is_kept(
    made: Synthesized, schedule: Mapping[str, Any]
) -> None:
    queue = made.logical_id(made.stack.reconciling.dead_letter_queue)
    assert resolved(schedule["Target"]["DeadLetterConfig"]["Arn"]) == f"<{queue}.Arn>"


def test_a_missed_run_is_not_retried_beyond_the_next(made: Synthesized, schedule: Mapping[str, Any]) -> None:
    assert schedule["Target"]["RetryPolicy"] == {"MaximumEventAgeInSeconds": 300, "MaximumRetryAttempts": 2}
    [(_, asynchronous)] = made.of_type("AWS::Lambda::EventInvokeConfig")
    assert asynchronous["MaximumRetryAttempts"] == 0
    assert asynchronous["MaximumEventAgeInSeconds"] == 300


def test_the_first_failure_of_the_reconciler_alarms(made: Synthesized) -> None:
    alarms = [alarm for _, alarm in made.of_type("AWS::CloudWatch::Alarm")]
    assert {(alarm["Namespace"], alarm["MetricName"]) for alarm in alarms} == {
        ("AWS/Lambda", "Errors"),
        ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
    }
    for alarm in alarms:
        assert (alarm["Threshold"], alarm["EvaluationPeriods"]) == (1, 1)
        assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
        assert "Metrics" not in alarm  # metric math: the sandbox could not deploy it
