"""A deployed stack whose events become executions, and whose reconciler looks after those that break off."""

import json
from collections.abc import Iterator
from typing import Any

from sandbox.aws import Sandbox
from sandbox.demo.deployment import Deployment
from sandbox.demo.walk import Walk, walk

BROKEN_OFF = ("FAILED", "TIMED_OUT", "ABORTED")


class WorkflowDeployment(Deployment):
    """`outputs` are those of a stack with a state machine."""

    def __init__(self, sandbox: Sandbox, outputs: dict[str, str]) -> None:
        super().__init__(sandbox, outputs)
        self._stepfunctions: Any = sandbox.client("stepfunctions")

    def executions(self, *statuses: str) -> list[dict[str, Any]]:
        """Those with one of these statuses; all if none is named."""
        pages = self._stepfunctions.get_paginator("list_executions")
        chosen = [{"statusFilter": status} for status in statuses] or [{}]
        return [
            dict(execution)
            for only in chosen
            for page in pages.paginate(stateMachineArn=self.outputs["StateMachineArn"], **only)
            for execution in page["executions"]
        ]

    def input_of(self, execution: str) -> Any:
        """Of an execution, by its ARN."""
        return json.loads(self._stepfunctions.describe_execution(executionArn=execution)["input"])

    def definition(self) -> dict[str, Any]:
        """Of the workflow, as it is deployed."""
        machine = self._stepfunctions.describe_state_machine(stateMachineArn=self.outputs["StateMachineArn"])
        return dict(json.loads(machine["definition"]))

    def walks(self) -> Iterator[Walk]:
        """Of all executions that have ended, but for those that were stopped before their first state."""
        pages = self._stepfunctions.get_paginator("get_execution_history")
        states = self.definition()["States"]
        for execution in self.executions("SUCCEEDED", *BROKEN_OFF):
            found = pages.paginate(executionArn=execution["executionArn"])
            walked = walk([event for page in found for event in page["events"]], among=states)
            if walked.states:
                yield walked

    @property
    def settle_seconds(self) -> int:
        """After its end, nothing of an execution runs any longer than this, as the reconciler reckons it."""
        return int(self.environment("Reconciler")["SETTLE_SECONDS"])

    def reconcile(self) -> dict[str, Any]:
        """Runs the reconciler now instead of within five minutes; answers its counts."""
        return self.invoke("Reconciler", {})
