"""A state machine in moto: starts executions, waits for their ends, tells what they went through."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event
from typing import Any

from tests.statemachines.clock import Clock

ROLE = "arn:aws:iam::123456789012:role/workflow"
_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    arn: str
    status: str
    output: Any
    states: list[str]
    inputs: dict[str, Any]  # by state
    error: str | None


class Machine:
    """`dates` are the test clock's: moto has only this machine's, and none for an end by timeout."""

    def __init__(self, client: Any, definition: dict[str, Any], *, name: str, clock: Clock) -> None:
        self.client = client
        self._clock = clock
        self._dates: dict[str, dict[str, datetime]] = {}
        self._ends: dict[str, Event] = {}
        self.arn: str = client.create_state_machine(
            name=name, definition=json.dumps(definition), roleArn=ROLE
        )["stateMachineArn"]

    def start(self, name: str, text: str) -> str:
        arn = f"{self.arn.replace(':stateMachine:', ':execution:')}:{name}"
        self._ends[arn] = Event()
        self._dates[arn] = {"startDate": self._date()}
        self.client.start_execution(stateMachineArn=self.arn, name=name, input=text)
        return arn

    def ended(self, arn: str) -> None:
        if arn in self._ends:
            self._dates[arn]["stopDate"] = self._date()
            self._ends[arn].set()

    def finish(self, arn: str) -> Run:
        assert self._ends[arn].wait(_PATIENCE_SECONDS), f"{arn} does not end"
        described = self.client.describe_execution(executionArn=arn)
        history = self.client.get_execution_history(executionArn=arn)["events"]
        entered = [
            event["stateEnteredEventDetails"] for event in history if event["type"].endswith("Entered")
        ]
        failed = [
            event["executionFailedEventDetails"] for event in history if event["type"] == "ExecutionFailed"
        ]
        return Run(
            arn=arn,
            status=described["status"],
            output=json.loads(described["output"]) if "output" in described else None,
            states=[details["name"] for details in entered],
            inputs={details["name"]: json.loads(details["input"]) for details in entered},
            error=failed[0].get("error") if failed else None,
        )

    def stop(self, arn: str) -> None:
        self.client.stop_execution(executionArn=arn)

    def get_paginator(self, operation: str) -> "Machine":
        assert operation == "list_executions"
        return self

    def paginate(self, **arguments: Any) -> Iterator[dict[str, Any]]:
        for page in self.client.get_paginator("list_executions").paginate(**arguments):
            yield {
                "executions": [{**each, **self._dates[each["executionArn"]]} for each in page["executions"]]
            }

    def describe_execution(self, **arguments: Any) -> Any:
        described = self.client.describe_execution(**arguments)
        return {**described, **self._dates[described["executionArn"]]}

    def _date(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)
