"""Copies in a dead-letter queue: taken to be looked at, put back unless they are safely elsewhere."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from queues import dead_letter

RECEIVE_LIMIT = "receive-limit"
"""Reason of what SQS itself moved here; it gives none."""

WAIT_SECONDS = 2  # for which a receive looks for messages on all of SQS's servers
# What is taken stays hidden from others for so long, should this be killed before it is put back.
BEING_REDRIVEN_SECONDS = 600
LOOKED_AT_SECONDS = 60
_FRUITLESS = 3  # receives in a row that bring nothing new: that was all


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """`attributes` as ReceiveMessage answers them; times in epoch milliseconds."""

    message_id: str
    body: str
    attributes: dict[str, dict[str, Any]]
    sent_at: int
    receipt: str = field(compare=False)

    @property
    def reason(self) -> str:
        return self.text(dead_letter.REASON) or RECEIVE_LIMIT

    @property
    def first_seen_at(self) -> int:
        """A message that SQS moves keeps its SentTimestamp."""
        seen = self.text(dead_letter.FIRST_SEEN_AT)
        return int(seen) if seen and seen.isdecimal() else self.sent_at

    @property
    def as_delivered(self) -> dict[str, Any]:
        """As Lambda would hand it to a function: so that the functions' own code can read it."""
        return {
            "messageId": self.message_id,
            "body": self.body,
            "attributes": {"SentTimestamp": str(self.sent_at)},
            "messageAttributes": {name: _delivered(value) for name, value in self.attributes.items()},
        }

    def text(self, name: str) -> str | None:
        """An attribute's value, if there is one and it is text."""
        value = self.attributes.get(name, {}).get("StringValue")
        return value if isinstance(value, str) and value.strip() else None


class DeadLetters:
    """What is taken is hidden from others until it is put back or removed."""

    def __init__(self, sqs: Any, url: str) -> None:
        self._sqs = sqs
        self._url = url
        self._taken: dict[str, str] = {}  # receipt handles of what has to be put back, by message

    def depth(self) -> int:
        """About how many there are, those that are hidden included."""
        counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        found = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=list(counts))["Attributes"]
        return sum(int(found[name]) for name in counts)

    def take(self, *, hidden_seconds: int = LOOKED_AT_SECONDS) -> Iterator[Copy]:
        """Each copy once. What is not removed afterwards is to be put back."""
        fruitless = 0
        while fruitless < _FRUITLESS:
            received = self._sqs.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=10,
                VisibilityTimeout=hidden_seconds,
                WaitTimeSeconds=WAIT_SECONDS,
                MessageAttributeNames=["All"],
                MessageSystemAttributeNames=["SentTimestamp"],
            ).get("Messages", [])
            new = [each for each in received if each["MessageId"] not in self._taken]
            self._taken |= {each["MessageId"]: each["ReceiptHandle"] for each in received}
            fruitless = 0 if new else fruitless + 1
            yield from map(_copy, new)

    def remove(self, copy: Copy) -> None:
        self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=copy.receipt)
        self._taken[copy.message_id] = ""

    def put_back(self) -> None:
        """Visible again at once; where SQS does not hear of it, after a while by themselves."""
        receipts = [receipt for receipt in self._taken.values() if receipt]
        for start in range(0, len(receipts), 10):
            entries = [
                {"Id": str(number), "ReceiptHandle": receipt, "VisibilityTimeout": 0}
                for number, receipt in enumerate(receipts[start : start + 10])
            ]
            try:
                self._sqs.change_message_visibility_batch(QueueUrl=self._url, Entries=entries)
            except (BotoCoreError, ClientError):
                return
        self._taken.clear()


def _copy(message: dict[str, Any]) -> Copy:
    return Copy(
        message_id=message["MessageId"],
        body=message["Body"],
        attributes=message.get("MessageAttributes", {}),
        sent_at=int(message["Attributes"]["SentTimestamp"]),
        receipt=message["ReceiptHandle"],
    )


def _delivered(attribute: dict[str, Any]) -> dict[str, str]:
    kind = attribute["DataType"]
    if "BinaryValue" in attribute:
        return {"dataType": kind, "binaryValue": base64.b64encode(attribute["BinaryValue"]).decode()}
    return {"dataType": kind, "stringValue": attribute["StringValue"]}
