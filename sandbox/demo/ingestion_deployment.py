"""A deployed ingestion seen from outside: its executions, too."""

import json
from collections.abc import Iterator
from typing import Any

from sandbox.aws import Sandbox
from sandbox.demo.queued_deployment import QueuedDeployment


class Ingestion(QueuedDeployment):
    """`outputs` are those of an IngestionStack."""

    def __init__(self, sandbox: Sandbox, outputs: dict[str, str]) -> None:
        super().__init__(sandbox, outputs)
        self._stepfunctions: Any = sandbox.client("stepfunctions")

    def busy(self) -> bool:
        return super().busy() or bool(self.executions("RUNNING"))

    def executions(self, *statuses: str) -> list[dict[str, Any]]:
        pages = self._stepfunctions.get_paginator("list_executions")
        return [
            dict(execution)
            for status in statuses
            for page in pages.paginate(
                stateMachineArn=self.outputs["StateMachineArn"],
                statusFilter=status,
            )
            for execution in page["executions"]
        ]

    def outputs_of_executions(self) -> Iterator[dict[str, Any]]:
        for execution in self.executions("SUCCEEDED"):
            described = self._stepfunctions.describe_execution(executionArn=execution["executionArn"])
            yield json.loads(described["output"])

    @property
    def settle_seconds(self) -> int:
        """After its end, nothing of an execution runs any longer than this, as the reconciler reckons it."""
        return int(self.environment("Reconciler")["SETTLE_SECONDS"])

    def reconcile(self) -> dict[str, Any]:
        """Runs the reconciler now instead of within five minutes; answers its counts."""
        return self.invoke("Reconciler", {})
