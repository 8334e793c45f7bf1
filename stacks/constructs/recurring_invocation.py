"""A function that runs every so often, and a queue for the runs that never reached it."""

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from aws_cdk import aws_sqs as sqs
from constructs import Construct


class RecurringInvocation(Construct):
    """The next run makes up for a missed one, so nothing is retried for longer than the interval."""

    def __init__(
        self, scope: Construct, construct_id: str, *, function: lambda_.Function, interval: Duration
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead_letter_queue = sqs.Queue(
            self,
            "DeadLetterQueue",
            retention_period=Duration.days(14),
            redrive_allow_policy=sqs.RedriveAllowPolicy(redrive_permission=sqs.RedrivePermission.DENY_ALL),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=RemovalPolicy.DESTROY,  # nothing in it is needed: the next run did the work
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
                dead_letter_queue=self.dead_letter_queue,
                max_event_age=interval,
                retry_attempts=2,
            ),
        )
        # Scheduler hands over to Lambda's own queue, which would go on trying for six hours.
        function.configure_async_invoke(max_event_age=interval, retry_attempts=0)
