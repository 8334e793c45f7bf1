"""What the stack of every workload on a queue has: the queue, the ledger, and functions made alike."""

from collections.abc import Mapping

from aws_cdk import Annotations, CfnOutput, CliCredentialsStackSynthesizer, Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk.aws_lambda_event_sources import SqsEventSource
from constructs import Construct

from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.layer import PackagesLayer
from stacks.constructs.ledger_table import LedgerTable
from stacks.constructs.work_queue import WorkQueue
from stacks.environment import for_every_function
from stacks.log_retention import LOG_RETENTION
from stacks.settings import FunctionSettings, StageSettings, WorkloadSettings
from stacks.settings.texts import is_example
from stacks.settings.workload import DeliverySettings


class QueuedWorkloadStack(Stack):
    """`workload` is the name of its settings within the stage, of its package and of its metrics' service."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        workload: str,
        description: str,
        stage: StageSettings,
        settings: WorkloadSettings,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            description=f"{description} ({stage.stage})",
            tags={"application": "idempotent-events", "workload": workload, "stage": stage.stage},
            synthesizer=CliCredentialsStackSynthesizer() if stage.bootstrapless else None,
        )
        self._workload = workload
        self._stage = stage
        self._for_every_function = for_every_function(settings, service=workload)
        self._removal = RemovalPolicy.RETAIN if stage.removal == "retain" else RemovalPolicy.DESTROY
        self._log_retention = LOG_RETENTION[stage.log_retention_days]

        self.work_queue = WorkQueue(self, "Work", settings=settings.queue, removal=self._removal)
        self.ledger = LedgerTable(
            self, "Ledger", removal=self._removal, deletion_protection=stage.deletion_protection
        )
        self._layer = PackagesLayer(self, "Packages").layer

    def _function(
        self, construct_id: str, *, handler: str, settings: FunctionSettings, variables: Mapping[str, str]
    ) -> HandlerFunction:
        return HandlerFunction(
            self,
            construct_id,
            handler=handler,
            settings=settings,
            environment={**self._for_every_function, **variables},
            layer=self._layer,
            log_retention=self._log_retention,
            removal=self._removal,
        )

    def _deliver_to(self, receiver: HandlerFunction, *, delivery: DeliverySettings) -> None:
        """The work queue's messages; those that failed come back, and no others."""
        window = delivery.batch_window_seconds
        receiver.function.add_event_source(
            SqsEventSource(
                self.work_queue.queue,
                batch_size=delivery.batch_size,
                max_batching_window=Duration.seconds(window) if window else None,
                max_concurrency=delivery.max_concurrency,
                report_batch_item_failures=True,
            )
        )

    def _output(self, **values: str) -> None:
        """For operators and the sandbox."""
        for name, value in values.items():
            CfnOutput(self, name, value=value)

    def _warn_of_example(self, setting: str, url: str) -> None:
        if is_example(url):
            Annotations.of(self).add_warning_v2(
                f"idempotent-events:example:{setting}",
                f"stages.{self._stage.stage}.{self._workload}.{setting} in cdk.json is still the example's",
            )


def allow(role: iam.IRole, actions: list[str], *resource_arns: str) -> None:
    iam.Grant.add_to_principal(
        grantee=role, actions=actions, resource_arns=list(resource_arns)
    ).assert_success()
