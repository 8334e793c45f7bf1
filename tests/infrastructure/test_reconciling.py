"""Promises about the schedule that sees to executions which broke off."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.infrastructure.synthesis import Ingestion, Orders, ingestion, orders, resolved

Made = Ingestion | Orders


@pytest.fixture(params=["ingestion", "orders"])
def made(request: pytest.FixtureRequest) -> Made:
    return ingestion() if request.param == "ingestion" else orders()


@pytest.fixture
def schedule(made: Made) -> Mapping[str, Any]:
    return made.properties(made.stack.reconciling.schedule)


def test_the_reconciler_runs_every_five_minutes(made: Made, schedule: Mapping[str, Any]) -> None:
    assert schedule["ScheduleExpression"] == "rate(5 minutes)"
    assert schedule["State"] == "ENABLED"
    function = made.logical_id(made.stack.reconciler.function)
    assert resolved(schedule["Target"]["Arn"]) == f"<{function}.Arn>"


def test_a_run_ends_before_the_next_begins(made: Made) -> None:
    assert made.properties(made.stack.reconciler.function)["Timeout"] < 300


def test_a_run_that_never_reached_the_function_is_kept(made: Made, schedule: Mapping[str, Any]) -> None:
    queue = made.logical_id(made.stack.reconciling.dead_letter_queue)
    assert resolved(schedule["Target"]["DeadLetterConfig"]["Arn"]) == f"<{queue}.Arn>"


def test_a_missed_run_is_not_retried_beyond_the_next(made: Made, schedule: Mapping[str, Any]) -> None:
    assert schedule["Target"]["RetryPolicy"] == {"MaximumEventAgeInSeconds": 300, "MaximumRetryAttempts": 2}
    [(_, asynchronous)] = made.of_type("AWS::Lambda::EventInvokeConfig")
    assert asynchronous["MaximumRetryAttempts"] == 0
    assert asynchronous["MaximumEventAgeInSeconds"] == 300


def test_the_first_failure_of_the_reconciler_alarms(made: Made) -> None:
    alarms, stack = alarms_of(made), made.stack
    for alarm in (
        alarms["AWS/Lambda", "Errors", made.logical_id(stack.reconciler.function)],
        alarms[
            "AWS/SQS",
            "ApproximateNumberOfMessagesVisible",
            made.logical_id(stack.reconciling.dead_letter_queue),
        ],
    ):
        assert (alarm["Threshold"], alarm["EvaluationPeriods"]) == (1, 1)
        assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
        assert alarm["TreatMissingData"] == "notBreaching"


def test_a_reconciler_that_does_not_run_at_all_alarms(made: Made) -> None:
    silent = alarms_of(made)["AWS/Lambda", "Invocations", made.logical_id(made.stack.reconciler.function)]
    assert (silent["Threshold"], silent["Period"], silent["Statistic"]) == (1, 900, "Sum")
    assert silent["ComparisonOperator"] == "LessThanThreshold"
    assert silent["TreatMissingData"] == "breaching"


def test_a_reconciler_that_falls_behind_alarms(made: Made) -> None:
    behind = next(
        alarm for place, alarm in alarms_of(made).items() if place[:2] == ("IdempotentEvents", "OutOfTime")
    )
    assert (behind["Threshold"], behind["Period"], behind["Statistic"]) == (1, 300, "Sum")
    assert behind["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"


def alarms_of(made: Made) -> dict[tuple[str, str, str], Mapping[str, Any]]:
    """By namespace, metric and the logical id of what is measured."""
    return {
        (alarm["Namespace"], alarm["MetricName"], _measured(alarm)): alarm
        for _, alarm in made.of_type("AWS::CloudWatch::Alarm")
    }


def _measured(alarm: Mapping[str, Any]) -> str:
    return re.sub(r"[<>]|\..*", "", resolved(alarm["Dimensions"][0]["Value"]))
