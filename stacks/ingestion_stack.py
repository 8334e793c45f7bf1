"""Ingestion: from a queue, through the guarded workflow, to the side effect or the dead-letter queue."""

from constructs import Construct

from stacks import ingestion_environment as environment
from stacks.constructs.workflow import Workflow
from stacks.ingestion_definition import ingestion_definition
from stacks.ingestion_panels import ingestion_panels
from stacks.panels import Panels
from stacks.queued_workload_stack import QueuedWorkloadStack
from stacks.reconciled_workload_stack import ReconciledWorkloadStack
from stacks.settings import StageSettings
from stacks.workload_stack import allow, allow_runs


class IngestionStack(QueuedWorkloadStack, ReconciledWorkloadStack):
    """SQS → starter → Step Functions, and the reconciler of executions that broke off."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: StageSettings) -> None:
        super().__init__(
            scope,
            construct_id,
            workload="ingestion",
            description="One event, one side effect: SQS through Step Functions",
            stage=stage,
            settings=stage.ingestion,
        )
        self._settings = stage.ingestion
        self._compose_tasks()
        self._compose_workflow()
        self._compose_callers()
        self._grant()
        self._deliver_to(self.starter)
        self._watch()
        self._show()
        self._warn_of_example("effect_url", self._settings.effect_url)

    def _compose_tasks(self) -> None:
        """The three functions that the workflow calls."""
        s, table = self._settings, self.ledger.table.table_name
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
            log_level=self._settings.workflow.log_level,
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
        self._compose_reconciler(
            settings=s.functions.reconciler,
            variables=environment.for_the_reconciler(
                s,
                ledger_table=self.ledger.table.table_name,
                state_machine_arn=machine_arn,
                dead_letter_queue_url=dead_letter_queue_url,
            ),
        )

    def _grant(self) -> None:
        """Who may do what: all of it, beside log writing and tracing, which every function may."""
        table = self.ledger.table.table_arn
        dead_letter_queue = self.work_queue.dead_letter_queue.queue_arn
        machine = self.workflow.state_machine

        allow(self.starter.role, ["states:StartExecution"], machine.state_machine_arn)
        allow(self.starter.role, ["sqs:SendMessage"], dead_letter_queue)

        allow(self.idempotency_guard.role, ["dynamodb:UpdateItem"], table)
        allow(self.side_effect.role, ["dynamodb:UpdateItem"], table)
        allow(self.record_failure.role, ["dynamodb:GetItem", "dynamodb:UpdateItem"], table)

        allow(machine.role, ["lambda:InvokeFunction"], *self._task_arns())
        allow(machine.role, ["sqs:SendMessage"], dead_letter_queue)

        allow(self.reconciler.role, ["states:ListExecutions"], machine.state_machine_arn)
        allow(self.reconciler.role, ["states:DescribeExecution"], self.workflow.executions_arn)
        allow(
            self.reconciler.role,
            ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
            table,
        )
        allow(self.reconciler.role, ["sqs:SendMessage"], dead_letter_queue)

        allow_runs(self.reconciling, self.reconciler)

    def _task_arns(self) -> list[str]:
        tasks = (self.idempotency_guard, self.side_effect, self.record_failure)
        return [task.function.function_arn for task in tasks]

    @property
    def panels(self) -> Panels:
        return ingestion_panels(
            queue=self.work_queue.queue,
            dead_letter_queue=self.work_queue.dead_letter_queue,
            machine=self.workflow.state_machine,
        )

    def _watch(self) -> None:
        self._watch_queue()
        self._watch_functions([self.starter, self.idempotency_guard, self.side_effect, self.record_failure])
        self._watch_executions(
            "Executions",
            broke_off="An execution did not deal with its event: the reconciler dead-letters it.",
        )
        self._watch_reconciler(
            failed="events of executions that broke off wait for it",
            silent="after a day, broken-off executions are out of sight",
        )

    def _show(self) -> None:
        self._output(
            QueueUrl=self.work_queue.queue.queue_url,
            DeadLetterQueueUrl=self.work_queue.dead_letter_queue.queue_url,
            TableName=self.ledger.table.table_name,
            StateMachineArn=self.workflow.state_machine.state_machine_arn,
            StarterName=self.starter.function.function_name,
            IdempotencyGuardName=self.idempotency_guard.function.function_name,
            SideEffectName=self.side_effect.function.function_name,
            RecordFailureName=self.record_failure.function.function_name,
            ReconcilerName=self.reconciler.function.function_name,
        )
