"""Alarms on one metric each: the sandbox's CloudFormation refuses metric math."""

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

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
        description: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarm = _alarm(
            self,
            metric,
            description,
            _Comparison.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            _Missing.NOT_BREACHING,
            threshold=level,
        )


class FirstOccurrenceAlarm(LevelAlarm):
    """Goes off when `metric` is 1 or more in a single period; a period without data is fine."""

    def __init__(
        self, scope: Construct, construct_id: str, *, metric: cloudwatch.Metric, description: str
    ) -> None:
        super().__init__(scope, construct_id, metric=metric, level=1, description=description)


class SilenceAlarm(Construct):
    """Goes off when `metric` stays at 0, or has no data at all, for a whole period."""

    def __init__(
        self, scope: Construct, construct_id: str, *, metric: cloudwatch.Metric, description: str
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarm = _alarm(
            self, metric, description, _Comparison.LESS_THAN_THRESHOLD, _Missing.BREACHING, threshold=1
        )


def _alarm(
    scope: Construct,
    metric: cloudwatch.Metric,
    description: str,
    comparison: cloudwatch.ComparisonOperator,
    missing: cloudwatch.TreatMissingData,
    *,
    threshold: int,
) -> cloudwatch.Alarm:
    return metric.create_alarm(
        scope,
        "Alarm",
        alarm_description=description,
        threshold=threshold,
        evaluation_periods=1,
        comparison_operator=comparison,
        treat_missing_data=missing,
    )
