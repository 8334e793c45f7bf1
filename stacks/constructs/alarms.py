"""Alarms on one metric each: the sandbox's CloudFormation refuses metric math."""

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

_Comparison = cloudwatch.ComparisonOperator
_Missing = cloudwatch.TreatMissingData


class FirstOccurrenceAlarm(Construct):
    """Goes off when `metric` is 1 or more in a single period; a period without data is fine."""

    def __init__(
        self, scope: Construct, construct_id: str, *, metric: cloudwatch.Metric, description: str
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarm = _alarm(
            self, metric, description, _Comparison.GREATER_THAN_OR_EQUAL_TO_THRESHOLD, _Missing.NOT_BREACHING
        )


class SilenceAlarm(Construct):
    """Goes off when `metric` stays at 0, or has no data at all, for a whole period."""

    def __init__(
        self, scope: Construct, construct_id: str, *, metric: cloudwatch.Metric, description: str
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarm = _alarm(self, metric, description, _Comparison.LESS_THAN_THRESHOLD, _Missing.BREACHING)


def _alarm(
    scope: Construct,
    metric: cloudwatch.Metric,
    description: str,
    comparison: cloudwatch.ComparisonOperator,
    missing: cloudwatch.TreatMissingData,
) -> cloudwatch.Alarm:
    return metric.create_alarm(
        scope,
        "Alarm",
        alarm_description=description,
        threshold=1,
        evaluation_periods=1,
        comparison_operator=comparison,
        treat_missing_data=missing,
    )
