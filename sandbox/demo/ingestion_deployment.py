"""A deployed ingestion seen from outside: its queue, its executions, its records."""

import json
from collections.abc import Iterator
from typing import Any

from sandbox.demo.queued_deployment import QueuedDeployment
from sandbox.demo.workflow_deployment import WorkflowDeployment


class Ingestion(QueuedDeployment, WorkflowDeployment):
    """`outputs` are those of an IngestionStack."""

    def busy(self) -> bool:
        return super().busy() or bool(self.executions("RUNNING"))

    def outputs_of_executions(self) -> Iterator[dict[str, Any]]:
        for execution in self.executions("SUCCEEDED"):
            described = self._stepfunctions.describe_execution(executionArn=execution["executionArn"])
            yield json.loads(described["output"])
