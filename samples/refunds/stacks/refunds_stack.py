"""Refunds: from a queue to a consumer that pays each refund once, or to the dead-letter queue."""

from constructs import Construct

from stacks.environment import for_a_downstream, for_the_ledger
from stacks.queued_workload_stack import QueuedWorkloadStack
from stacks.settings import StageSettings
from stacks.workload_stack import allow

from .refunds_settings import RefundsSettings  # relative: it is checked here, too, before it is copied


class RefundsStack(QueuedWorkloadStack):
    """SQS → consumer, which claims, pays and completes."""

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: StageSettings, settings: RefundsSettings
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            workload="refunds",
            description="One refund, one payment: SQS to a guarded consumer",
            stage=stage,
            settings=settings,
        )
        dead_letter_queue = self.work_queue.dead_letter_queue
        self.consumer = self._function(
            "Consumer",
            handler="refunds.consumer.handler",
            settings=settings.consumer,
            variables={
                **for_the_ledger(settings, table=self.ledger.table.table_name),
                "NAMESPACE": settings.namespace,
                "LEASE_SECONDS": str(settings.lease_seconds),
                "RETENTION_SECONDS": str(settings.retention_seconds),
                "RECORD_SECONDS": str(settings.record_seconds),
                "DLQ_URL": dead_letter_queue.queue_url,
                **for_a_downstream(
                    "PAYMENT", url=settings.payment_url, deadline_seconds=settings.payment_deadline_seconds
                ),
            },
        )
        allow(self.consumer.role, ["dynamodb:UpdateItem"], self.ledger.table.table_arn)
        allow(self.consumer.role, ["sqs:SendMessage"], dead_letter_queue.queue_arn)
        self._deliver_to(self.consumer)
        self._watch_queue()
        self._watch_functions([self.consumer])
        self._output(
            QueueUrl=self.work_queue.queue.queue_url,
            DeadLetterQueueUrl=dead_letter_queue.queue_url,
            TableName=self.ledger.table.table_name,
            ConsumerName=self.consumer.function.function_name,
        )
