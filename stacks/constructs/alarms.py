"""Alarms on one metric each: the sandbox's CloudFormation refuses metric math."""

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct


class FirstOccurrenceAlarm(Construct):
    """Goes off when `metric` is 1 or more in a single period; a period without data is fine."""

    def __init__(
        self, scope: Construct, construct_id: str, *, metric: cloudwatch.Metric, description: str
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarm = metric.create_alarm(
            self,
            "Alarm",
            alarm_description=description,
            threshold=1,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )


class SilenceAlarm(Construct):
    """Goes off when `metric` stays at 0, or has no data at all, for a whole period."""

    def __init__(
        self, scope: Construct, construct_id: str, *, metric: cloudwatch.Metric, description: str
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarm = metric.create_alarm(
            self,
            "Alarm",
            alarm_description=description,
            threshold=1,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
        )
