"""Promises about the schedule that sees to executions which broke off."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.infrastructure.synthesis import Ingestion, ingestion, resolved


@pytest.fixture
def made() -> Ingestion:
    return ingestion()


@pytest.fixture
def schedule(made: Ingestion) -> Mapping[str, Any]:
    return made.properties(made.stack.reconciling.schedule)


def test_the_reconciler_runs_every_five_minutes(made: Ingestion, schedule: Mapping[str, Any]) -> None:
    assert schedule["ScheduleExpression"] == "rate(5 minutes)"
    assert schedule["State"] == "ENABLED"
    function = made.logical_id(made.stack.reconciler.function)
    assert resolved(schedule["Target"]["Arn"]) == f"<{function}.Arn>"


def test_a_run_ends_before_the_next_begins(made: Ingestion) -> None:
    assert made.properties(made.stack.reconciler.function)["Timeout"] < 300


def test_a_run_that_never_reached_the_function_is_kept(made: Ingestion, schedule: Mapping[str, Any]) -> None:
    queue = made.logical_id(made.stack.reconciling.dead_letter_queue)
    assert resolved(schedule["Target"]["DeadLetterConfig"]["Arn"]) == f"<{queue}.Arn>"


def test_a_missed_run_is_not_retried_beyond_the_next(made: Ingestion, schedule: Mapping[str, Any]) -> None:
    assert schedule["Target"]["RetryPolicy"] == {"MaximumEventAgeInSeconds": 300, "MaximumRetryAttempts": 2}
    [(_, asynchronous)] = made.of_type("AWS::Lambda::EventInvokeConfig")
    assert asynchronous["MaximumRetryAttempts"] == 0
    assert asynchronous["MaximumEventAgeInSeconds"] == 300


def test_the_first_failure_of_the_reconciler_alarms(made: Ingestion) -> None:
    alarms = _alarms(made)
    for metric in (("AWS/Lambda", "Errors"), ("AWS/SQS", "ApproximateNumberOfMessagesVisible")):
        assert (alarms[metric]["Threshold"], alarms[metric]["EvaluationPeriods"]) == (1, 1)
        assert alarms[metric]["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
        assert alarms[metric]["TreatMissingData"] == "notBreaching"


def test_a_reconciler_that_does_not_run_at_all_alarms(made: Ingestion) -> None:
    silent = _alarms(made)["AWS/Lambda", "Invocations"]
    assert (silent["Threshold"], silent["Period"], silent["Statistic"]) == (1, 900, "Sum")
    assert silent["ComparisonOperator"] == "LessThanThreshold"
    assert silent["TreatMissingData"] == "breaching"


def test_no_alarm_needs_metric_math_which_the_sandbox_could_not_deploy(made: Ingestion) -> None:
    assert len(_alarms(made)) == 3
    assert not any("Metrics" in alarm for alarm in _alarms(made).values())


def _alarms(made: Ingestion) -> dict[tuple[str, str], Mapping[str, Any]]:
    alarms = [alarm for _, alarm in made.of_type("AWS::CloudWatch::Alarm")]
    return {(alarm["Namespace"], alarm["MetricName"]): alarm for alarm in alarms}
