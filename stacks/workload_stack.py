"""What the stack of every workload has: functions made alike."""

from collections.abc import Mapping

from aws_cdk import Annotations, RemovalPolicy
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.asynchronous_invocation import AsynchronousInvocation
from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.layer import PackagesLayer
from stacks.constructs.recurring_invocation import RecurringInvocation
from stacks.environment import for_every_function
from stacks.log_retention import LOG_RETENTION
from stacks.settings import FunctionSettings, StageSettings, WorkloadSettings
from stacks.settings.texts import is_example
from stacks.watched_stack import WatchedStack


class WorkloadStack(WatchedStack):
    """Its outputs are for operators and the sandbox."""

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
        super().__init__(scope, construct_id, workload=workload, description=description, stage=stage)
        self._for_every_function = for_every_function(settings, service=workload)
        self._removal = RemovalPolicy.RETAIN if stage.removal == "retain" else RemovalPolicy.DESTROY
        self._log_retention = LOG_RETENTION[stage.log_retention_days]
        self._layer = PackagesLayer(self, "Packages").layer

    def _function(
        self,
        construct_id: str,
        *,
        handler: str,
        settings: FunctionSettings,
        variables: Mapping[str, str],
        asynchronous: AsynchronousInvocation | None = None,
        reserved_concurrency: int | None = None,
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
            asynchronous=asynchronous,
            reserved_concurrency=reserved_concurrency,
        )

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


def allow_runs(runs: RecurringInvocation, function: HandlerFunction) -> None:
    """What a schedule needs: its function, and the queue for the runs that never reached it."""
    allow(runs.role, ["lambda:InvokeFunction"], function.function.function_arn)
    allow(runs.role, ["sqs:SendMessage"], runs.dead_letter_queue.queue_arn)
