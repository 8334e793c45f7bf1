"""One deployed stack under test, whatever its workload: its messages, its records, its dead letters."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sandbox.aws import Sandbox
from sandbox.demo.deployment import DeadLetter, Deployment

PAYLOAD_MARKER = "payload-7c1f9e"  # in every body; nothing may log it

D = TypeVar("D", bound=Deployment)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`pk` is the partition key of its record, if it comes to have one."""

    body: str
    pk: str


class Deployed(Generic[D]):
    """Each test uses messages of its own, so that tests don't meet although the deployment is shared."""

    def __init__(self, semantics: str, namespace: str, sandbox: Sandbox, deployment: D) -> None:
        self.semantics = semantics
        self.sandbox = sandbox
        self.deployment = deployment
        self.outputs = deployment.outputs
        self.faults = sandbox.faults
        self._namespace = namespace
        self._letters: list[DeadLetter] = []
        self._one_collector = threading.Lock()
        self._numbers = iter(range(1_000_000))

    def record(self, message: Message) -> dict[str, Any] | None:
        """The message's item, plain values."""
        answer: Any = self.sandbox.client("dynamodb").get_item(
            TableName=self.outputs["TableName"],
            Key={"pk": {"S": message.pk}, "sk": {"S": self._namespace}},
            ConsistentRead=True,
        )
        if "Item" not in answer:
            return None
        return {name: next(iter(value.values())) for name, value in answer["Item"].items()}

    def letters(self, message: Message) -> list[DeadLetter]:
        """Its dead letters so far, oldest first. They are taken from the queue, and remembered here."""
        with self._one_collector:
            self._letters += self.deployment.take_dead_letters()
            return [letter for letter in self._letters if letter.body == message.body]

    def log_lines(self, function: str) -> list[dict[str, Any]]:
        """What the function with this construct id has logged so far: its JSON lines, metrics among them."""
        return self.deployment.log_lines(function)

    def everything_logged(self) -> dict[str, list[str]]:
        """By log group, what all functions of this AWS have logged so far."""
        logs = self.sandbox.client("logs")
        groups = [
            group["logGroupName"]
            for page in logs.get_paginator("describe_log_groups").paginate()
            for group in page["logGroups"]
        ]
        read = logs.get_paginator("filter_log_events").paginate
        return {
            group: [event["message"] for page in read(logGroupName=group) for event in page["events"]]
            for group in groups
        }

    def configuration(self, function: str) -> dict[str, Any]:
        """Of the function with this construct id."""
        return self.deployment.configuration(function)

    def kill(self, function: str) -> None:
        """SIGKILL whatever runs the function with this construct id."""
        assert self.deployment.kill(function)


def eventually(look: Callable[[], T | None], *, seconds: float = 60, every: float = 0.05) -> T:
    """What `look` finds as soon as it finds something; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"still nothing after {seconds:g} s"
        time.sleep(every)
    return found
