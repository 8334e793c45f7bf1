"""A deployed stack of any workload, seen from outside: its functions and its dead letters."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.aws import Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    body: str
    reason: str | None
    attributes: dict[str, Any]


class Deployment:
    """`outputs` are those of any workload's stack in this sandbox. Functions go by their construct ids."""

    def __init__(self, sandbox: Sandbox, outputs: dict[str, str]) -> None:
        self.outputs = outputs
        self._sandbox = sandbox
        self._sqs: Any = sandbox.client("sqs")

    def configuration(self, function: str) -> dict[str, Any]:
        name = self.outputs[f"{function}Name"]
        return dict(self._sandbox.client("lambda").get_function_configuration(FunctionName=name))

    def environment(self, function: str) -> dict[str, str]:
        return dict(self.configuration(function)["Environment"]["Variables"])

    def invoke(self, function: str, payload: Any) -> dict[str, Any]:
        """What it answers. Raises RuntimeError with what it says if it fails."""
        functions: Any = self._sandbox.client("lambda")
        answer = functions.invoke(FunctionName=self.outputs[f"{function}Name"], Payload=json.dumps(payload))
        said = answer["Payload"].read()
        if "FunctionError" in answer:
            raise RuntimeError(f"{function} failed: {said.decode()}")
        return dict(json.loads(said))

    def kill(self, function: str) -> list[int]:
        """SIGKILL whatever runs the function; answers the processes' ids."""
        return self._sandbox.kill_workers(self.outputs[f"{function}Name"])

    def log_lines(self, function: str) -> list[dict[str, Any]]:
        """What the function has logged so far: its JSON lines, metrics among them."""
        pages = self._sandbox.client("logs").get_paginator("filter_log_events")
        group = self.configuration(function)["LoggingConfig"]["LogGroup"]
        messages = [e["message"] for page in pages.paginate(logGroupName=group) for e in page["events"]]
        return [json.loads(message) for message in messages if message.startswith("{")]

    def take_dead_letters(self) -> list[DeadLetter]:
        """All that is in the dead-letter queue; it is empty afterwards."""
        queue = self.outputs["DeadLetterQueueUrl"]
        taken: list[DeadLetter] = []
        while True:
            answer = self._sqs.receive_message(
                QueueUrl=queue, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
            )
            if not answer.get("Messages"):
                return taken
            for message in answer["Messages"]:
                attributes = message.get("MessageAttributes", {})
                reason = attributes.get("reason", {}).get("StringValue")
                taken.append(DeadLetter(body=message["Body"], reason=reason, attributes=attributes))
                self._sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])


def logged_at(line: Mapping[str, Any]) -> datetime:
    """When a function logged a line, by its own clock."""
    return datetime.strptime(line["timestamp"], "%Y-%m-%d %H:%M:%S,%f%z")
