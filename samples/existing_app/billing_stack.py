"""A stack of somebody's own, which takes the constructs and none of the workloads' stacks."""

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.layer import PackagesLayer
from stacks.constructs.ledger_table import LedgerTable
from stacks.constructs.work_queue import WorkQueue
from stacks.environment import for_a_downstream, for_every_function, for_the_ledger
from stacks.queued_workload_stack import RECEIVING
from stacks.settings import FunctionSettings, QueuedWorkloadSettings, QueueSettings
from stacks.workload_stack import allow

REFUNDS = QueuedWorkloadSettings(
    semantics="idempotent-downstream",
    namespace="refunds",
    lease_seconds=240,  # above the function's timeout + margin
    queue=QueueSettings(visibility_timeout_seconds=720),  # 6 times the function's timeout
)
CONSUMER = FunctionSettings(timeout_seconds=120)


class BillingStack(Stack):
    """The topic was there before; refunds that it tells of are paid once."""

    def __init__(self, scope: Construct, construct_id: str, *, payment_url: str) -> None:
        super().__init__(scope, construct_id)
        self.topic = sns.Topic(self, "Refunds", enforce_ssl=True)

        self.ledger = LedgerTable(self, "Ledger", removal=RemovalPolicy.RETAIN, deletion_protection=True)
        self.work = WorkQueue(self, "Work", settings=REFUNDS.queue, removal=RemovalPolicy.RETAIN)
        self.topic.add_subscription(subscriptions.SqsSubscription(self.work.queue, raw_message_delivery=True))
        self.consumer = HandlerFunction(
            self,
            "Consumer",
            handler="refunds.consumer.handler",
            settings=CONSUMER,
            environment={
                **for_every_function(REFUNDS, service="refunds"),
                **for_the_ledger(REFUNDS, table=self.ledger.table.table_name),
                **for_a_downstream("PAYMENT", url=payment_url, deadline_seconds=20),
                "NAMESPACE": REFUNDS.namespace,
                "LEASE_SECONDS": str(REFUNDS.lease_seconds),
                "RETENTION_SECONDS": str(REFUNDS.retention_seconds),
                "RECORD_SECONDS": "80",  # five bounded calls to AWS and the downstream's deadline
                "DLQ_URL": self.work.dead_letter_queue.queue_url,
            },
            layer=PackagesLayer(self, "Packages").layer,
            log_retention=logs.RetentionDays.ONE_MONTH,
            removal=RemovalPolicy.RETAIN,
        )
        self._grant()
        self._receive()
        self._watch()

    def _grant(self) -> None:
        allow(self.consumer.role, ["dynamodb:UpdateItem"], self.ledger.table.table_arn)
        allow(self.consumer.role, ["sqs:SendMessage"], self.work.dead_letter_queue.queue_arn)
        allow(self.consumer.role, RECEIVING, self.work.queue.queue_arn)

    def _receive(self) -> None:
        lambda_.EventSourceMapping(
            self,
            "Receiving",
            target=self.consumer.function,
            event_source_arn=self.work.queue.queue_arn,
            batch_size=10,
            report_batch_item_failures=True,  # or one failure would bring the whole batch back
        )

    def _watch(self) -> None:
        waiting = self.work.dead_letter_queue.metric_approximate_number_of_messages_visible(
            period=Duration.minutes(5), statistic="Maximum"
        )
        waiting.create_alarm(
            self,
            "DeadLetters",
            threshold=1,
            evaluation_periods=1,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
