"""Alarms on one metric each: the sandbox's CloudFormation refuses metric math."""

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from stacks.runbook import Section

PERSISTENT_PERIODS = 3

_Comparison = cloudwatch.ComparisonOperator
_Missing = cloudwatch.TreatMissingData


class LevelAlarm(Construct):
    """Goes off when `metric` reaches `level` in a single period; a period without data is fine.

    It has a name of ours, other than nearly everything else: that is what a person who is paged reads first.
    No change of an alarm replaces it, so its name is never in its own way.
    """

    _periods = 1
    _comparison = _Comparison.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
    _without_data = _Missing.NOT_BREACHING

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        metric: cloudwatch.Metric,
        meaning: str,
        section: Section,
        level: int = 1,
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarm = metric.create_alarm(
            self,
            "Alarm",
            alarm_name=f"{Stack.of(self).stack_name}-{construct_id}",
            alarm_description=f"{meaning} Runbook: {section.address}",
            threshold=level,
            evaluation_periods=self._periods,
            comparison_operator=self._comparison,
            treat_missing_data=self._without_data,
        )


class FirstOccurrenceAlarm(LevelAlarm):
    """Goes off when `metric` is 1 or more in a single period; a period without data is fine."""


class PersistentAlarm(LevelAlarm):
    """Goes off when `metric` reaches `level` in three periods on end: for what is retried by itself."""

    _periods = PERSISTENT_PERIODS


class SilenceAlarm(LevelAlarm):
    """Goes off when `metric` stays at 0, or has no data at all, for a whole period."""

    _comparison = _Comparison.LESS_THAN_THRESHOLD
    _without_data = _Missing.BREACHING
