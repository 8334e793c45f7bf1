"""Alarms on one metric each: the sandbox's CloudFormation refuses metric math."""

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from stacks.runbook import Section

PERSISTENT_PERIODS = 3

_Comparison = cloudwatch.ComparisonOperator
_Missing = cloudwatch.TreatMissingData


class LevelAlarm(Construct):
    """Goes off when `metric` reaches `level` in a single period; a period without data is fine."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        metric: cloudwatch.Metric,
        level: int,
        meaning: str,
        section: Section,
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarm = _reached(self, metric, level, meaning, section, periods=1)


class FirstOccurrenceAlarm(LevelAlarm):
    """Goes off when `metric` is 1 or more in a single period; a period without data is fine."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        metric: cloudwatch.Metric,
        meaning: str,
        section: Section,
    ) -> None:
        super().__init__(scope, construct_id, metric=metric, level=1, meaning=meaning, section=section)


class PersistentAlarm(Construct):
    """Goes off when `metric` reaches `level` in three periods on end: for what is retried by itself."""

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
        self.alarm = _reached(self, metric, level, meaning, section, periods=PERSISTENT_PERIODS)


class SilenceAlarm(Construct):
    """Goes off when `metric` stays at 0, or has no data at all, for a whole period."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        metric: cloudwatch.Metric,
        meaning: str,
        section: Section,
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarm = metric.create_alarm(
            self,
            "Alarm",
            alarm_name=_name(self),
            alarm_description=_description(meaning, section),
            threshold=1,
            evaluation_periods=1,
            comparison_operator=_Comparison.LESS_THAN_THRESHOLD,
            treat_missing_data=_Missing.BREACHING,
        )


def _reached(
    scope: Construct,
    metric: cloudwatch.Metric,
    level: int,
    meaning: str,
    section: Section,
    *,
    periods: int,
) -> cloudwatch.Alarm:
    return metric.create_alarm(
        scope,
        "Alarm",
        alarm_name=_name(scope),
        alarm_description=_description(meaning, section),
        threshold=level,
        evaluation_periods=periods,
        comparison_operator=_Comparison.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treat_missing_data=_Missing.NOT_BREACHING,
    )


def _name(alarm: Construct) -> str:
    """Of ours, other than that of nearly everything else: it is what a person who is paged reads first.

    No change of an alarm replaces it, so its name is never in its own way.
    """
    return f"{Stack.of(alarm).stack_name}-{alarm.node.id}"


def _description(meaning: str, section: Section) -> str:
    return f"{meaning} Runbook: {section.address}"
