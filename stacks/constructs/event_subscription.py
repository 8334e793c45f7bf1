"""Events of the account's default bus that a function takes one by one."""

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct


class EventSubscription(Construct):
    """EventBridge tries for a day to hand an event over; then it goes to the dead-letter queue."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        source: str,
        detail_type: str,
        function: lambda_.Function,
        dead_letter_queue: sqs.Queue,
    ) -> None:
        super().__init__(scope, construct_id)
        self.rule = events.Rule(
            self,
            "Rule",
            event_pattern=events.EventPattern(source=[source], detail_type=[detail_type]),
            targets=[targets.LambdaFunction(function, dead_letter_queue=dead_letter_queue)],
        )
