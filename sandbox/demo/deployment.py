"""A deployed stack seen from outside: its queues and its records, and of ingestion its executions."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.aws import Sandbox

_QUIET_ROUNDS = 3  # polls in a row that must find nothing under way


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    body: str
    reason: str | None
    attributes: dict[str, Any]


class Deployment:
    """`outputs` are those of any workload's stack in this sandbox."""

    def __init__(self, sandbox: Sandbox, outputs: dict[str, str]) -> None:
        self.outputs = outputs
        self._sandbox = sandbox
        self._sqs: Any = sandbox.client("sqs")

    def send(self, bodies: Sequence[str]) -> None:
        """Each body as a message of its own."""
        queue = self.outputs["QueueUrl"]
        for batch in _batches(bodies):
            entries = [{"Id": str(number), "MessageBody": body} for number, body in enumerate(batch)]
            answer = self._sqs.send_message_batch(QueueUrl=queue, Entries=entries)
            if answer.get("Failed"):
                raise RuntimeError(f"the queue refused messages: {answer['Failed']}")

    def waiting(self) -> int:
        """Messages on the work queue, those being received included."""
        found = self._sqs.get_queue_attributes(QueueUrl=self.outputs["QueueUrl"], AttributeNames=["All"])
        counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return sum(int(found["Attributes"][name]) for name in counts)

    def busy(self) -> bool:
        """Whether anything is still under way."""
        return self.waiting() > 0

    def redeliver_after(self, seconds: int) -> None:
        """A message that is neither acknowledged nor hidden comes back then, not after six timeouts."""
        self._sqs.set_queue_attributes(
            QueueUrl=self.outputs["QueueUrl"], Attributes={"VisibilityTimeout": str(seconds)}
        )

    def configuration(self, function: str) -> dict[str, Any]:
        """Of the function with this construct id."""
        name = self.outputs[f"{function}Name"]
        return dict(self._sandbox.client("lambda").get_function_configuration(FunctionName=name))

    def kill(self, function: str) -> list[int]:
        """SIGKILL whatever runs the function with this construct id; answers the processes' ids."""
        return self._sandbox.kill_workers(self.outputs[f"{function}Name"])

    def log_lines(self, function: str) -> list[dict[str, Any]]:
        """What the function with this construct id has logged so far: its JSON lines, metrics among them."""
        pages = self._sandbox.client("logs").get_paginator("filter_log_events")
        group = self.configuration(function)["LoggingConfig"]["LogGroup"]
        messages = [e["message"] for page in pages.paginate(logGroupName=group) for e in page["events"]]
        return [json.loads(message) for message in messages if message.startswith("{")]

    def records(self) -> dict[str, dict[str, Any]]:
        """The ledger's records by partition key, as DynamoDB holds them."""
        pages = self._sandbox.client("dynamodb").get_paginator("scan")
        return {
            item["pk"]["S"]: item
            for page in pages.paginate(TableName=self.outputs["TableName"], ConsistentRead=True)
            for item in page["Items"]
            if "state" in item
        }

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

    def wait_until_quiet(self, *, seconds: float) -> bool:
        """Whether everything came to rest within `seconds`."""
        deadline, quiet = time.monotonic() + seconds, 0
        while quiet < _QUIET_ROUNDS and time.monotonic() < deadline:
            quiet = 0 if self.busy() else quiet + 1
            time.sleep(0.25)
        return quiet == _QUIET_ROUNDS


class Ingestion(Deployment):
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
        return int(self.configuration("Reconciler")["Environment"]["Variables"]["SETTLE_SECONDS"])

    def reconcile(self) -> dict[str, Any]:
        """Runs the reconciler now instead of within five minutes; answers its counts."""
        functions: Any = self._sandbox.client("lambda")
        answer = functions.invoke(FunctionName=self.outputs["ReconcilerName"], Payload=b"{}")
        said = answer["Payload"].read()
        if "FunctionError" in answer:
            raise RuntimeError(f"the reconciler failed: {said.decode()}")
        counts: dict[str, Any] = json.loads(said)
        return counts


def _batches(bodies: Iterable[str]) -> Iterator[list[str]]:
    """Up to ten messages and 1 MiB, as SendMessageBatch takes them (half of it, to be far from the edge)."""
    batch: list[str] = []
    for body in bodies:
        if batch and (len(batch) == 10 or sum(map(len, batch)) + len(body) > 500_000):
            yield batch
            batch = []
        batch.append(body)
    if batch:
        yield batch
