"""The plain pattern as one stack, with the settings that our ingestion has in the same stage."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, Unpack

from aws_cdk import CfnOutput, CliCredentialsStackSynthesizer, Duration, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from stacks.constructs.handler_function import ARCHITECTURE, RUNTIME
from stacks.constructs.layer import PackagesLayer
from stacks.settings import FunctionSettings, StageSettings

_HERE = Path(__file__).parent

_RETRY_ANY = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 3, "BackoffRate": 2.0}


class Variant(TypedDict, total=False):
    """What a variant does otherwise than the pattern."""

    retry_any: bool
    """Both tasks are tried again whatever failed, not only where Lambda itself did."""
    completes: bool
    """The item says DONE when the effect has taken place."""


class PlainStack(Stack):
    """SQS → starter → Step Functions: guard → choice → effect, or skip."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: StageSettings,
        effect_url: str,
        **variant: Unpack[Variant],
    ) -> None:
        super().__init__(scope, construct_id, synthesizer=CliCredentialsStackSynthesizer())
        self._layer = PackagesLayer(self, "Packages").layer
        self._settings = stage.ingestion
        self._compose_queues()
        self._compose_tasks(effect_url, completes=variant.get("completes", False))
        self._compose_workflow(retry_any=variant.get("retry_any", False))
        self._compose_starter()
        self._show()

    def _compose_queues(self) -> None:
        s = self._settings.queue
        self.dead_letter_queue = sqs.Queue(self, "DeadLetterQueue", enforce_ssl=True)
        self.queue = sqs.Queue(
            self,
            "Queue",
            visibility_timeout=Duration.seconds(s.visibility_timeout_seconds),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letter_queue, max_receive_count=s.max_receive_count
            ),
            enforce_ssl=True,
        )

    def _compose_tasks(self, effect_url: str, *, completes: bool) -> None:
        s = self._settings
        self.table = dynamodb.TableV2(
            self,
            "Table",
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            billing=dynamodb.Billing.on_demand(),
            time_to_live_attribute="expiresAt",
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.idempotency_guard = self._function(
            "IdempotencyGuard",
            module="idempotency_guard",
            settings=s.functions.idempotency_guard,
            environment={
                "TABLE_NAME": self.table.table_name,
                "RETENTION_SECONDS": str(s.retention_seconds),
            },
        )
        self.table.grant(self.idempotency_guard, "dynamodb:PutItem")
        self.side_effect = self._function(
            "SideEffect",
            module="side_effect",
            settings=s.functions.side_effect,
            environment={
                "EFFECT_URL": effect_url,
                "EFFECT_DEADLINE_SECONDS": str(s.effect_deadline_seconds),
                **({"COMPLETES_IN_TABLE": self.table.table_name} if completes else {}),
            },
        )
        if completes:
            self.table.grant(self.side_effect, "dynamodb:UpdateItem")

    def _compose_workflow(self, *, retry_any: bool) -> None:
        self.state_machine = sfn.StateMachine(
            self,
            "StateMachine",
            definition_body=sfn.DefinitionBody.from_string(json.dumps(definition(retry_any=retry_any))),
            definition_substitutions={
                "IdempotencyGuardArn": self.idempotency_guard.function_arn,
                "SideEffectArn": self.side_effect.function_arn,
            },
        )
        self.idempotency_guard.grant_invoke(self.state_machine)
        self.side_effect.grant_invoke(self.state_machine)

    def _compose_starter(self) -> None:
        s = self._settings
        self.starter = self._function(
            "Starter",
            module="starter",
            settings=s.functions.starter,
            environment={"STATE_MACHINE_ARN": self.state_machine.state_machine_arn},
        )
        self.state_machine.grant_start_execution(self.starter)
        self.starter.add_event_source(
            event_sources.SqsEventSource(
                self.queue,
                batch_size=s.delivery.batch_size,
                max_concurrency=s.delivery.max_concurrency,
                report_batch_item_failures=True,
            )
        )

    def _function(
        self, construct_id: str, *, module: str, settings: FunctionSettings, environment: Mapping[str, str]
    ) -> lambda_.Function:
        return lambda_.Function(
            self,
            construct_id,
            code=lambda_.Code.from_asset(str(_HERE / "functions"), exclude=["**/__pycache__", "**/*.pyc"]),
            handler=f"{module}.handler",
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            layers=[self._layer],
            timeout=Duration.seconds(settings.timeout_seconds),
            memory_size=settings.memory_mb,
            environment={
                "POWERTOOLS_SERVICE_NAME": "plain",
                "POWERTOOLS_LOG_LEVEL": "INFO",
                **environment,
            },
            log_group=logs.LogGroup(
                self,
                f"{construct_id}Log",
                retention=logs.RetentionDays.ONE_DAY,
                removal_policy=RemovalPolicy.DESTROY,
            ),
            logging_format=lambda_.LoggingFormat.JSON,
            tracing=lambda_.Tracing.ACTIVE,
        )

    def _show(self) -> None:
        """Under the names that `sandbox.demo` knows from our own stacks."""
        for name, value in {
            "QueueUrl": self.queue.queue_url,
            "DeadLetterQueueUrl": self.dead_letter_queue.queue_url,
            "TableName": self.table.table_name,
            "StateMachineArn": self.state_machine.state_machine_arn,
            "StarterName": self.starter.function_name,
            "IdempotencyGuardName": self.idempotency_guard.function_name,
            "SideEffectName": self.side_effect.function_name,
        }.items():
            CfnOutput(self, name, value=value)


def definition(*, retry_any: bool) -> dict[str, Any]:
    """The workflow, but for the functions' ARNs."""
    workflow: dict[str, Any] = json.loads((_HERE / "workflow.asl.json").read_text())
    if retry_any:
        for task in ("IdempotencyGuard", "SideEffect"):
            workflow["States"][task]["Retry"].append(_RETRY_ANY)
    return workflow
