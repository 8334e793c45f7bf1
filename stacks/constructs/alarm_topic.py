"""A topic to which alarms, and nobody else, publish."""

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct


class AlarmTopic(Construct):
    """Encrypted, reached over TLS only, read by whoever has the address and has confirmed it.

    The key is our own: AWS's (alias/aws/sns) does not let CloudWatch in, and an alarm whose action fails says
    so in its history alone.
    """

    def __init__(self, scope: Construct, construct_id: str, *, email: str) -> None:
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Key",
            description="Alarms on their way to whoever is told of them",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,  # after 30 days; what it encrypts lives for minutes
        )
        self.topic = sns.Topic(self, "Topic", master_key=self.key, enforce_ssl=True)
        self.topic.add_subscription(subscriptions.EmailSubscription(email))
        self.key.add_to_resource_policy(_alarms_may(["kms:Decrypt", "kms:GenerateDataKey*"], "*"))
        # A policy of its own takes the place of the one by which anybody in the account could publish.
        self.topic.add_to_resource_policy(_alarms_may(["sns:Publish"], self.topic.topic_arn))


def _alarms_may(actions: list[str], resource: str) -> iam.PolicyStatement:
    """Those of this account."""
    return iam.PolicyStatement(
        principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
        actions=actions,
        resources=[resource],
        conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
    )
