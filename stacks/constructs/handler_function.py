"""A Lambda function of ours: the house's defaults stand here, once."""

from collections.abc import Mapping
from pathlib import Path

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.asynchronous_invocation import AsynchronousInvocation, QueueWithoutGrant
from stacks.settings import FunctionSettings

ARCHITECTURE = lambda_.Architecture.ARM_64
RUNTIME = lambda_.Runtime.PYTHON_3_14
SOURCE = Path(__file__).parent.parent.parent / "lambdas"
# A test run leaves byte code behind, and the packages are in the layer: neither may change the hash.
NOT_SOURCE = ["**/__pycache__", "**/*.pyc", "requirements.txt", "**/.*"]


class HandlerFunction(Construct):
    """A function with its own role, which may write its own log and nothing else until it is granted."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        handler: str,
        settings: FunctionSettings,
        environment: Mapping[str, str],
        layer: lambda_.ILayerVersion,
        log_retention: logs.RetentionDays,
        removal: RemovalPolicy,
        asynchronous: AsynchronousInvocation | None = None,
        reserved_concurrency: int | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.log_group = logs.LogGroup(self, "LogGroup", retention=log_retention, removal_policy=removal)
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.log_group.grant_write(self.role)
        self.function = lambda_.Function(
            self,
            "Function",
            handler=handler,
            code=lambda_.Code.from_asset(str(SOURCE), exclude=NOT_SOURCE),
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            role=self.role,
            layers=[layer],
            timeout=Duration.seconds(settings.timeout_seconds),
            memory_size=settings.memory_mb,
            environment=dict(environment),
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            tracing=lambda_.Tracing.ACTIVE,
            reserved_concurrent_executions=reserved_concurrency,
        )
        if asynchronous is not None:
            self._take_over(asynchronous)

    def _take_over(self, asynchronous: AsynchronousInvocation) -> None:
        failures = asynchronous.failures
        self.function.configure_async_invoke(
            max_event_age=Duration.seconds(asynchronous.max_event_age_seconds),
            retry_attempts=asynchronous.retry_attempts,
            on_failure=None if failures is None else QueueWithoutGrant(failures),
        )
