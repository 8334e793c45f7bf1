"""A deployed stack that is fed by a queue and keeps its records in a table."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sandbox.demo.deployment import Deployment

_QUIET_ROUNDS = 3  # polls in a row that must find nothing under way


class QueuedDeployment(Deployment):
    """`outputs` are those of a stack with a work queue."""

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

    def redeliver_what_was_killed(self, function: str) -> None:
        """What a killed worker held comes back as soon as it can't be running any more."""
        self.redeliver_after(self.configuration(function)["Timeout"] + 1)

    def records(self) -> dict[str, dict[str, Any]]:
        """The ledger's records by partition key, as DynamoDB holds them."""
        pages = self._sandbox.client("dynamodb").get_paginator("scan")
        return {
            item["pk"]["S"]: item
            for page in pages.paginate(TableName=self.outputs["TableName"], ConsistentRead=True)
            for item in page["Items"]
            if "state" in item
        }

    def wait_until_quiet(self, *, seconds: float) -> bool:
        """Whether everything came to rest within `seconds`."""
        deadline, quiet = time.monotonic() + seconds, 0
        while quiet < _QUIET_ROUNDS and time.monotonic() < deadline:
            quiet = 0 if self.busy() else quiet + 1
            time.sleep(0.25)
        return quiet == _QUIET_ROUNDS


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
