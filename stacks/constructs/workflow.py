"""A STANDARD state machine made of a parsed definition, which so stays readable in the template."""

import json
from collections.abc import Mapping
from typing import Any

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct


class Workflow(Construct):
    """Logged without payloads, traced; its role may do nothing else until it is granted.

    The machine's timeout belongs into the definition: CDK drops `timeout=` beside a definition given as text.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        definition: Mapping[str, Any],
        substitutions: Mapping[str, str],
        log_level: str,
        log_retention: logs.RetentionDays,
        removal: RemovalPolicy,
    ) -> None:
        super().__init__(scope, construct_id)
        self.log_group = logs.LogGroup(self, "LogGroup", retention=log_retention, removal_policy=removal)
        self.state_machine = sfn.StateMachine(
            self,
            "StateMachine",
            state_machine_type=sfn.StateMachineType.STANDARD,
            definition_body=sfn.DefinitionBody.from_string(json.dumps(definition, indent=1)),
            definition_substitutions=dict(substitutions),
            logs=sfn.LogOptions(
                destination=self.log_group, level=sfn.LogLevel[log_level], include_execution_data=False
            ),
            tracing_enabled=True,
            removal_policy=RemovalPolicy.DESTROY,
        )

    @property
    def executions_arn(self) -> str:
        """Of all of them: they have no ARN before they are started."""
        return Stack.of(self).format_arn(
            service="states",
            resource="execution",
            resource_name=f"{self.state_machine.state_machine_name}:*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
