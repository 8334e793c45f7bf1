"""A queue of work, and the dead-letter queue beside it."""

from aws_cdk import Duration, Names, RemovalPolicy, Stack
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.settings import QueueSettings


class WorkQueue(Construct):
    """Both encrypted and reached over TLS only; the dead-letter queue takes from this queue and no other.

    The work queue is the one resource with a name of ours, derived from the construct's path: the two queues
    must name each other, a cycle that CloudFormation refuses unless one name is known beforehand.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: QueueSettings, removal: RemovalPolicy
    ) -> None:
        super().__init__(scope, construct_id)
        name = Names.unique_resource_name(self, max_length=80, separator="-")
        self.dead_letter_queue = sqs.Queue(
            self,
            "DeadLetterQueue",
            retention_period=Duration.days(settings.dead_letter_retention_days),
            redrive_allow_policy=sqs.RedriveAllowPolicy(source_queues=[self._known_by_name(name)]),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=removal,
        )
        self.queue = sqs.Queue(
            self,
            "Queue",
            queue_name=name,
            visibility_timeout=Duration.seconds(settings.visibility_timeout_seconds),
            retention_period=Duration.days(settings.retention_days),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letter_queue, max_receive_count=settings.max_receive_count
            ),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=removal,
        )

    def _known_by_name(self, name: str) -> sqs.IQueue:
        arn = Stack.of(self).format_arn(service="sqs", resource=name)
        return sqs.Queue.from_queue_arn(self, "ByName", arn)
