"""Charges: from a queue to a consumer that debits each charge once, or to the dead-letter queue."""

from constructs import Construct

from stacks import charges_environment as environment
from stacks.charges_panels import charges_panels
from stacks.panels import Panels
from stacks.queued_workload_stack import QueuedWorkloadStack
from stacks.settings import StageSettings
from stacks.workload_stack import allow


class ChargesStack(QueuedWorkloadStack):
    """SQS → consumer, which claims, debits, notifies and completes; no workflow."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: StageSettings) -> None:
        super().__init__(
            scope,
            construct_id,
            workload="charges",
            description="One charge, one debit: SQS to a leased consumer",
            stage=stage,
            settings=stage.charges,
        )
        settings = stage.charges
        self.consumer = self._function(
            "Consumer",
            handler="charges.consumer.handler",
            settings=settings.functions.consumer,
            variables=environment.for_the_consumer(
                settings,
                ledger_table=self.ledger.table.table_name,
                queue_url=self.work_queue.queue.queue_url,
                dead_letter_queue_url=self.work_queue.dead_letter_queue.queue_url,
            ),
        )
        self._grant()
        self._deliver_to(self.consumer)
        self._watch_queue()
        self._watch_functions([self.consumer])
        self._output(
            QueueUrl=self.work_queue.queue.queue_url,
            DeadLetterQueueUrl=self.work_queue.dead_letter_queue.queue_url,
            TableName=self.ledger.table.table_name,
            ConsumerName=self.consumer.function.function_name,
        )
        self._warn_of_example("core_banking_url", settings.core_banking_url)
        self._warn_of_example("notification_url", settings.notification_url)

    @property
    def panels(self) -> Panels:
        return charges_panels(
            queue=self.work_queue.queue, dead_letter_queue=self.work_queue.dead_letter_queue
        )

    def _grant(self) -> None:
        """Beside log writing and tracing; its event source lets it receive and delete messages."""
        allow(self.consumer.role, ["dynamodb:UpdateItem"], self.ledger.table.table_arn)
        allow(self.consumer.role, ["sqs:ChangeMessageVisibility"], self.work_queue.queue.queue_arn)
        allow(self.consumer.role, ["sqs:SendMessage"], self.work_queue.dead_letter_queue.queue_arn)
