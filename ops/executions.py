"""A workload's executions, latest first; no more of them than asked for."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from botocore.exceptions import ClientError

from idempotency.ledger import Clock

RUNNING = "RUNNING"
UNFINISHED = ("FAILED", "TIMED_OUT", "ABORTED")

MOST = 1000  # that are counted: ten pages
_DAY_SECONDS = 86_400

Execution = dict[str, Any]  # as ListExecutions or DescribeExecution answer


class Executions:
    def __init__(self, stepfunctions: Any, machine: str, *, clock: Clock) -> None:
        self._stepfunctions = stepfunctions
        self._machine = machine
        self._clock = clock

    def counts(self) -> dict[str, int]:
        """By status: those that run, and those that broke off within a day. MOST stands for more."""
        return {status: sum(1 for _ in self.latest(status, most=MOST)) for status in (RUNNING, *UNFINISHED)}

    def latest(self, status: str, *, most: int) -> Iterator[Execution]:
        """Closed ones are listed by their end (API reference of ListExecutions), back to a day ago."""
        return islice(self._listed(status), most)

    def described(self, arn: str) -> Execution | None:
        """None where it is none, or is gone: Step Functions forgets them 90 days after their end."""
        if not arn.startswith(self.arn("")):
            return None
        try:
            return dict(self._stepfunctions.describe_execution(executionArn=arn))
        except ClientError as error:
            if error.response["Error"]["Code"] in ("ExecutionDoesNotExist", "InvalidArn"):
                return None
            raise

    def arn(self, name: str) -> str:
        return f"{self._machine.replace(':stateMachine:', ':execution:')}:{name}"

    def told(self, arn: str) -> dict[str, Any] | None:
        """The execution and its story; times in epoch seconds. None where it is none, or is gone."""
        described = self.described(arn)
        if described is None:
            return None
        stopped = described.get("stopDate")
        return {
            "arn": arn,
            "status": described["status"],
            "started_at": int(described["startDate"].timestamp()),
            "stopped_at": int(stopped.timestamp()) if stopped else None,
            "story": self._story(arn),
        }

    def _story(self, arn: str) -> list[dict[str, Any]]:
        """The states it entered, and what failed in between."""
        pages = self._stepfunctions.get_paginator("get_execution_history").paginate(executionArn=arn)
        told = (_told(event) for page in pages for event in page["events"])
        return [each for each in told if each]

    def _listed(self, status: str) -> Iterator[Execution]:
        oldest = self._clock() - _DAY_SECONDS
        paginator = self._stepfunctions.get_paginator("list_executions")
        for page in paginator.paginate(stateMachineArn=self._machine, statusFilter=status):
            for execution in page["executions"]:
                if "stopDate" in execution and execution["stopDate"].timestamp() < oldest:
                    return
                yield execution


def input_of(execution: Execution) -> dict[str, Any]:
    found = json.loads(execution["input"])
    return found if isinstance(found, dict) else {}


def _told(event: dict[str, Any]) -> dict[str, Any] | None:
    at = int(event["timestamp"].timestamp())
    if entered := event.get("stateEnteredEventDetails"):
        return {"at": at, "state": entered["name"]}
    for name, details in event.items():
        if name.endswith("EventDetails") and isinstance(details, dict) and details.get("error"):
            return {"at": at, "error": details["error"], "cause": details.get("cause", "")[:200]}
    return None
