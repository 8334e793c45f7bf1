"""A function that runs every so often, and a queue for the runs that never reached it."""

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from constructs import Construct

from stacks.constructs.dead_letter_queue import DeadLetterQueue


class RecurringInvocation(Construct):
    """The next run makes up for a missed one, so nothing is retried for longer than the interval.

    Scheduler hands each run over to Lambda: how long that goes on trying is a matter of the function.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, function: lambda_.Function, interval: Duration
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead_letter_queue = DeadLetterQueue(
            self,
            "DeadLetterQueue",
            removal=RemovalPolicy.DESTROY,  # nothing in it is needed: the next run did the work
        )
        self.role = iam.Role(
            self,
            "Role",
            # The condition keeps schedules of other accounts from borrowing the role.
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
        )
        self.schedule = scheduler.Schedule(
            self,
            "Schedule",
            schedule=scheduler.ScheduleExpression.rate(interval),
            target=targets.LambdaInvoke(
                function,
                # CDK would add `<function>:*`; the role is granted the function itself, in the stack.
                role=self.role.without_policy_updates(),
                # A function that takes other events too tells a run by this.
                input=scheduler.ScheduleTargetInput.from_object({"source": "aws.scheduler"}),
                dead_letter_queue=self.dead_letter_queue,
                max_event_age=interval,
                retry_attempts=2,
            ),
        )
