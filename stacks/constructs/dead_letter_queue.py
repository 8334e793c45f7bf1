"""A queue for what could not be handled."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_sqs as sqs
from constructs import Construct

DEAD_LETTER_RETENTION_DAYS = 14  # as long as SQS can


class DeadLetterQueue(sqs.Queue):
    """Filled by services and functions of the stack; no other queue may redrive into it."""

    def __init__(self, scope: Construct, construct_id: str, *, removal: RemovalPolicy) -> None:
        super().__init__(
            scope,
            construct_id,
            retention_period=Duration.days(DEAD_LETTER_RETENTION_DAYS),
            redrive_allow_policy=sqs.RedriveAllowPolicy(redrive_permission=sqs.RedrivePermission.DENY_ALL),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=removal,
        )
