"""What the stack of every workload has: functions made alike, and what is shown of it."""

from collections.abc import Mapping

from aws_cdk import Annotations, CfnOutput, CliCredentialsStackSynthesizer, Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.alarms import FirstOccurrenceAlarm, SilenceAlarm
from stacks.constructs.asynchronous_invocation import AsynchronousInvocation
from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.layer import PackagesLayer
from stacks.constructs.recurring_invocation import RecurringInvocation
from stacks.environment import METRICS_NAMESPACE, for_every_function
from stacks.log_retention import LOG_RETENTION
from stacks.settings import FunctionSettings, StageSettings, WorkloadSettings
from stacks.settings.texts import is_example

_DAY_SECONDS = 86_400


class WorkloadStack(Stack):
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

    def _watch_runs(
        self,
        name: str,
        *,
        of: HandlerFunction,
        runs: RecurringInvocation,
        interval_seconds: int,
        failed: str,
        silent: str,
    ) -> None:
        """Of a function that runs every so often: silence alarms after three runs' time, at most a day."""
        interval = Duration.seconds(interval_seconds)
        FirstOccurrenceAlarm(
            self,
            f"{name}Failed",
            metric=of.function.metric_errors(period=interval),
            description=f"The {name.lower()} failed: {failed}.",
        )
        FirstOccurrenceAlarm(
            self,
            f"{name}NotReached",
            metric=runs.dead_letter_queue.metric_approximate_number_of_messages_visible(
                period=interval, statistic="Maximum"
            ),
            description=f"The {name.lower()}'s schedule could not invoke it.",
        )
        SilenceAlarm(
            self,
            f"{name}Silent",
            metric=of.function.metric_invocations(
                period=Duration.seconds(min(3 * interval_seconds, _DAY_SECONDS)), statistic="Sum"
            ),
            description=f"The {name.lower()} does not run: {silent}.",
        )

    def _metric(self, name: str, statistic: str, *, period_seconds: int) -> cloudwatch.Metric:
        """One that our functions count."""
        return cloudwatch.Metric(
            namespace=METRICS_NAMESPACE,
            metric_name=name,
            dimensions_map={"service": self._workload},
            statistic=statistic,
            period=Duration.seconds(period_seconds),
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


def allow_runs(runs: RecurringInvocation, function: HandlerFunction) -> None:
    """What a schedule needs: its function, and the queue for the runs that never reached it."""
    allow(runs.role, ["lambda:InvokeFunction"], function.function.function_arn)
    allow(runs.role, ["sqs:SendMessage"], runs.dead_letter_queue.queue_arn)
