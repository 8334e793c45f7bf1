"""What the stack of every workload with a workflow has: the reconciler of executions that broke off."""

from collections.abc import Mapping

from aws_cdk import Duration

from stacks.constructs.alarms import FirstOccurrenceAlarm, PersistentAlarm
from stacks.constructs.asynchronous_invocation import left_to_the_next_run
from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.recurring_invocation import RecurringInvocation
from stacks.constructs.workflow import Workflow
from stacks.metrics import WATCHED_SECONDS, counted
from stacks.runbook import Section
from stacks.settings import FunctionSettings
from stacks.settings.workflow import RECONCILER_INTERVAL_SECONDS
from stacks.workload_stack import WorkloadStack


class ReconciledWorkloadStack(WorkloadStack):
    """The function is `reconciler` in the workload's package; the workflow is the workload's own."""

    workflow: Workflow
    reconciler: HandlerFunction
    reconciling: RecurringInvocation

    def _compose_reconciler(self, *, settings: FunctionSettings, variables: Mapping[str, str]) -> None:
        self.reconciler = self._function(
            "Reconciler",
            handler=f"{self._workload}.reconciler.handler",
            settings=settings,
            variables=variables,
            asynchronous=left_to_the_next_run(RECONCILER_INTERVAL_SECONDS),
        )
        self.reconciling = RecurringInvocation(
            self,
            "Reconciling",
            function=self.reconciler.function,
            interval=Duration.seconds(RECONCILER_INTERVAL_SECONDS),
        )

    def _watch_reconciler(self, *, failed: str, silent: str) -> None:
        self._watch_runs(
            "Reconciler",
            of=self.reconciler,
            runs=self.reconciling,
            interval_seconds=RECONCILER_INTERVAL_SECONDS,
            failed=failed,
            silent=silent,
        )
        # What it has no time for falls out of its sight in the end.
        FirstOccurrenceAlarm(
            self,
            "OutOfTime",
            metric=counted(self._workload, "OutOfTime", period_seconds=RECONCILER_INTERVAL_SECONDS),
            meaning="Executions break off faster than the reconciler deals with them.",
            section=Section.OUT_OF_TIME,
        )

    def _watch_executions(self, of: str, *, broke_off: str) -> None:
        machine, period = self.workflow.state_machine, Duration.seconds(WATCHED_SECONDS)
        ends = {
            "Failed": machine.metric_failed(period=period),
            "TimedOut": machine.metric_timed_out(period=period),
            "Aborted": machine.metric_aborted(period=period),
        }
        for end, metric in ends.items():
            FirstOccurrenceAlarm(
                self, f"{of}{end}", metric=metric, meaning=broke_off, section=Section.BROKEN_EXECUTIONS
            )
        PersistentAlarm(
            self,
            f"{of}Throttled",
            metric=machine.metric_throttled(period=period),
            meaning="Step Functions has been slowing executions down for a quarter of an hour.",
            section=Section.THROTTLING,
        )
