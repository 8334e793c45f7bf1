"""Ingestion: from a queue, through the guarded workflow, to the side effect or the dead-letter queue."""

from collections.abc import Mapping

from aws_cdk import (
    Annotations,
    ArnFormat,
    CfnOutput,
    CliCredentialsStackSynthesizer,
    Duration,
    RemovalPolicy,
    Stack,
)
from aws_cdk import aws_iam as iam
from aws_cdk.aws_lambda_event_sources import SqsEventSource
from constructs import Construct

from stacks import ingestion_environment as environment
from stacks.constructs.alarms import FirstOccurrenceAlarm, SilenceAlarm
from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.layer import PackagesLayer
from stacks.constructs.ledger_table import LedgerTable
from stacks.constructs.recurring_invocation import RecurringInvocation
from stacks.constructs.work_queue import WorkQueue
from stacks.constructs.workflow import Workflow
from stacks.ingestion_definition import ingestion_definition
from stacks.log_retention import LOG_RETENTION
from stacks.settings import FunctionSettings, StageSettings
from stacks.settings.model import RECONCILER_INTERVAL_SECONDS
from stacks.settings.texts import is_example


class IngestionStack(Stack):
    """SQS → starter → Step Functions, and the reconciler of executions that broke off."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: StageSettings) -> None:
        super().__init__(
            scope,
            construct_id,
            description=f"One event, one side effect: SQS through Step Functions ({stage.stage})",
            tags={"application": "idempotent-events", "workload": "ingestion", "stage": stage.stage},
            synthesizer=CliCredentialsStackSynthesizer() if stage.bootstrapless else None,
        )
        self._stage = stage
        self._settings = stage.ingestion
        self._removal = RemovalPolicy.RETAIN if stage.removal == "retain" else RemovalPolicy.DESTROY
        self._log_retention = LOG_RETENTION[stage.log_retention_days]

        self.work_queue = WorkQueue(self, "Work", settings=self._settings.queue, removal=self._removal)
        self.ledger = LedgerTable(
            self, "Ledger", removal=self._removal, deletion_protection=stage.deletion_protection
        )
        self._compose_tasks()
        self._compose_workflow()
        self._compose_callers()
        self._grant()
        self._connect()
        self._watch()
        self._show()
        if is_example(self._settings.effect_url):
            Annotations.of(self).add_warning_v2(
                "idempotent-events:exampleEffectUrl",
                f"stages.{stage.stage}.ingestion.effect_url in cdk.json is still the example's",
            )

    def _compose_tasks(self) -> None:
        """The three functions that the workflow calls."""
        s, table = self._settings, self.ledger.table.table_name
        self._layer = PackagesLayer(self, "Packages").layer
        self.idempotency_guard = self._function(
            "IdempotencyGuard",
            handler="ingestion.idempotency_guard.handler",
            settings=s.functions.idempotency_guard,
            variables=environment.for_the_idempotency_guard(s, ledger_table=table),
        )
        self.side_effect = self._function(
            "SideEffect",
            handler="ingestion.side_effect.handler",
            settings=s.functions.side_effect,
            variables=environment.for_the_side_effect(s, ledger_table=table),
        )
        self.record_failure = self._function(
            "RecordFailure",
            handler="ingestion.record_failure.handler",
            settings=s.functions.record_failure,
            variables=environment.for_record_failure(s, ledger_table=table),
        )

    def _compose_workflow(self) -> None:
        self.workflow = Workflow(
            self,
            "Workflow",
            definition=ingestion_definition(self._settings),
            substitutions={
                "IdempotencyGuardArn": self.idempotency_guard.function.function_arn,
                "SideEffectArn": self.side_effect.function.function_arn,
                "RecordFailureArn": self.record_failure.function.function_arn,
                "DeadLetterQueueUrl": self.work_queue.dead_letter_queue.queue_url,
            },
            log_retention=self._log_retention,
            removal=self._removal,
        )

    def _compose_callers(self) -> None:
        """The functions that call the workflow: one starts executions, one sees to those that broke off."""
        s = self._settings
        machine_arn = self.workflow.state_machine.state_machine_arn
        dead_letter_queue_url = self.work_queue.dead_letter_queue.queue_url
        self.starter = self._function(
            "Starter",
            handler="ingestion.starter.handler",
            settings=s.functions.starter,
            variables=environment.for_the_starter(
                s, state_machine_arn=machine_arn, dead_letter_queue_url=dead_letter_queue_url
            ),
        )
        self.reconciler = self._function(
            "Reconciler",
            handler="ingestion.reconciler.handler",
            settings=s.functions.reconciler,
            variables=environment.for_the_reconciler(
                s,
                ledger_table=self.ledger.table.table_name,
                state_machine_arn=machine_arn,
                dead_letter_queue_url=dead_letter_queue_url,
            ),
        )
        self.reconciling = RecurringInvocation(
            self,
            "Reconciling",
            function=self.reconciler.function,
            interval=Duration.seconds(RECONCILER_INTERVAL_SECONDS),
        )

    def _function(
        self, construct_id: str, *, handler: str, settings: FunctionSettings, variables: Mapping[str, str]
    ) -> HandlerFunction:
        return HandlerFunction(
            self,
            construct_id,
            handler=handler,
            settings=settings,
            environment={**environment.for_every_function(self._settings), **variables},
            layer=self._layer,
            log_retention=self._log_retention,
            removal=self._removal,
        )

    def _grant(self) -> None:
        """Who may do what: all of it, beside log writing and tracing, which every function may."""
        table = self.ledger.table.table_arn
        dead_letter_queue = self.work_queue.dead_letter_queue.queue_arn
        machine = self.workflow.state_machine

        _allow(self.starter.role, ["states:StartExecution"], machine.state_machine_arn)
        _allow(self.starter.role, ["sqs:SendMessage"], dead_letter_queue)

        _allow(self.idempotency_guard.role, ["dynamodb:UpdateItem"], table)
        _allow(self.side_effect.role, ["dynamodb:UpdateItem"], table)
        _allow(self.record_failure.role, ["dynamodb:GetItem", "dynamodb:UpdateItem"], table)

        _allow(machine.role, ["lambda:InvokeFunction"], *self._task_arns())
        _allow(machine.role, ["sqs:SendMessage"], dead_letter_queue)

        _allow(self.reconciler.role, ["states:ListExecutions"], machine.state_machine_arn)
        _allow(self.reconciler.role, ["states:DescribeExecution"], self._executions_arn())
        _allow(
            self.reconciler.role,
            ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
            table,
        )
        _allow(self.reconciler.role, ["sqs:SendMessage"], dead_letter_queue)

        _allow(self.reconciling.role, ["lambda:InvokeFunction"], self.reconciler.function.function_arn)
        _allow(self.reconciling.role, ["sqs:SendMessage"], self.reconciling.dead_letter_queue.queue_arn)

    def _task_arns(self) -> list[str]:
        tasks = (self.idempotency_guard, self.side_effect, self.record_failure)
        return [task.function.function_arn for task in tasks]

    def _executions_arn(self) -> str:
        return self.format_arn(
            service="states",
            resource="execution",
            resource_name=f"{self.workflow.state_machine.state_machine_name}:*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )

    def _connect(self) -> None:
        delivery = self._settings.delivery
        window = delivery.batch_window_seconds
        self.starter.function.add_event_source(
            SqsEventSource(
                self.work_queue.queue,
                batch_size=delivery.batch_size,
                max_batching_window=Duration.seconds(window) if window else None,
                max_concurrency=delivery.max_concurrency,
                report_batch_item_failures=True,
            )
        )

    def _watch(self) -> None:
        interval = Duration.seconds(RECONCILER_INTERVAL_SECONDS)
        FirstOccurrenceAlarm(
            self,
            "ReconcilerFailed",
            metric=self.reconciler.function.metric_errors(period=interval),
            description="The reconciler failed: events of executions that broke off wait for it.",
        )
        FirstOccurrenceAlarm(
            self,
            "ReconcilerNotReached",
            metric=self.reconciling.dead_letter_queue.metric_approximate_number_of_messages_visible(
                period=interval, statistic="Maximum"
            ),
            description="The reconciler's schedule could not invoke it.",
        )
        SilenceAlarm(
            self,
            "ReconcilerSilent",
            metric=self.reconciler.function.metric_invocations(
                period=Duration.seconds(3 * RECONCILER_INTERVAL_SECONDS), statistic="Sum"
            ),
            description="The reconciler does not run: after a day, broken-off executions are out of sight.",
        )

    def _show(self) -> None:
        shown = {
            "QueueUrl": self.work_queue.queue.queue_url,
            "DeadLetterQueueUrl": self.work_queue.dead_letter_queue.queue_url,
            "TableName": self.ledger.table.table_name,
            "StateMachineArn": self.workflow.state_machine.state_machine_arn,
            "StarterName": self.starter.function.function_name,
            "IdempotencyGuardName": self.idempotency_guard.function.function_name,
            "SideEffectName": self.side_effect.function.function_name,
            "RecordFailureName": self.record_failure.function.function_name,
            "ReconcilerName": self.reconciler.function.function_name,
        }
        for name, value in shown.items():
            CfnOutput(self, name, value=value)


def _allow(role: iam.IRole, actions: list[str], *resource_arns: str) -> None:
    iam.Grant.add_to_principal(
        grantee=role, actions=actions, resource_arns=list(resource_arns)
    ).assert_success()
