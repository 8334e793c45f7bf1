"""What the stack of every workload on a queue has besides: the queue, and the ledger in a table."""

from aws_cdk import Duration, Names
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.constructs.alarms import LevelAlarm
from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.ledger_table import LedgerTable
from stacks.constructs.work_queue import WorkQueue
from stacks.metrics import WATCHED_SECONDS
from stacks.runbook import Section
from stacks.settings import QueuedWorkloadSettings, StageSettings
from stacks.settings.workload import DAY_SECONDS
from stacks.workload_stack import WorkloadStack, allow

RECEIVING = ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]


class QueuedWorkloadStack(WorkloadStack):
    """A workload whose events come from a queue and are claimed in DynamoDB."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        workload: str,
        description: str,
        stage: StageSettings,
        settings: QueuedWorkloadSettings,
    ) -> None:
        super().__init__(
            scope, construct_id, workload=workload, description=description, stage=stage, settings=settings
        )
        self._delivery, self._queue = settings.delivery, settings.queue
        self.work_queue = WorkQueue(self, "Work", settings=settings.queue, removal=self._removal)
        self.ledger = LedgerTable(
            self, "Ledger", removal=self._removal, deletion_protection=stage.deletion_protection
        )

    def _deliver_to(self, receiver: HandlerFunction) -> None:
        """The work queue's messages; those that failed come back, and no others."""
        queue, window = self.work_queue.queue, self._delivery.batch_window_seconds
        # CDK's SqsEventSource would grant more than Lambda's pollers need, which is what the managed policy
        # AWSLambdaSQSQueueExecutionRole has. The id is its own: another one would be another mapping, which
        # Lambda refuses as long as a stack that was deployed before has this one.
        allow(receiver.role, RECEIVING, queue.queue_arn)
        lambda_.EventSourceMapping(
            receiver.function,
            f"SqsEventSource:{Names.node_unique_id(queue.node)}",
            target=receiver.function,
            event_source_arn=queue.queue_arn,
            batch_size=self._delivery.batch_size,
            max_batching_window=Duration.seconds(window) if window else None,
            max_concurrency=self._delivery.max_concurrency,
            report_batch_item_failures=True,
        )

    def _watch_queue(self) -> None:
        """Both queues, and the claims behind them."""
        self._watch_dead_letters(
            self.work_queue.dead_letter_queue,
            retention_seconds=self._queue.dead_letter_retention_days * DAY_SECONDS,
        )
        # A message whose receiver died comes back after so long: until then nothing needs to be wrong.
        patience = self._queue.visibility_timeout_seconds + self._stage.alarms.backlog_seconds
        LevelAlarm(
            self,
            "OldestMessage",
            metric=self.work_queue.queue.metric_approximate_age_of_oldest_message(
                period=Duration.seconds(WATCHED_SECONDS), statistic="Maximum"
            ),
            level=patience,
            meaning=f"A message has waited for {patience} s: events are handled too slowly, or not at all.",
            section=Section.OLDEST_MESSAGE,
        )
        self._watch_claims()
