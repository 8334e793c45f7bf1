"""Standard queues of SQS in this process: at least once, in any order, and moved after too many receives."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from botocore.exceptions import ClientError

_LONGEST_VISIBILITY_SECONDS = 43_200


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """Times in epoch seconds. `attributes` as SendMessage takes them."""

    id: str
    body: str
    attributes: dict[str, dict[str, Any]]
    sent: float
    visible_at: float
    receives: int = 0
    receipts: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str | None:
        """Why it is in a dead-letter queue; None if SQS moved it."""
        return self.attributes.get("reason", {}).get("StringValue")

    def record(self) -> dict[str, Any]:
        """As Lambda hands it to a function."""
        return {
            "messageId": self.id,
            "receiptHandle": self.receipts[-1],
            "body": self.body,
            "attributes": {
                "ApproximateReceiveCount": str(self.receives),
                "SentTimestamp": str(int(self.sent * 1000)),
            },
            "messageAttributes": {
                name: {"dataType": value["DataType"], "stringValue": value["StringValue"]}
                for name, value in self.attributes.items()
            },
        }


class Queue:
    """After `max_receive_count` receives SQS moves a message to `dead_letters`, as it is."""

    def __init__(
        self,
        url: str,
        clock: Callable[[], float],
        numbers: "count[int]",
        *,
        dead_letters: "Queue | None" = None,
        max_receive_count: int = 0,
    ) -> None:
        self.url = url
        self.messages: list[Message] = []
        self._clock = clock
        self._numbers = numbers
        self._dead_letters = dead_letters
        self._max_receive_count = max_receive_count

    def held(self) -> object:
        """All there is, equal when it is the same."""
        return [
            (each.id, each.body, sorted(each.attributes), each.receives, each.visible_at)
            for each in self.messages
        ]

    def send(self, body: str, attributes: dict[str, dict[str, Any]]) -> Message:
        now = self._clock()
        name = f"message-{next(self._numbers)}"
        message = Message(id=name, body=body, attributes=attributes, sent=now, visible_at=now)
        self.messages.append(message)
        return message

    def receive(self, most: int, *, visibility: float, chance: random.Random) -> list[Message]:
        """Some of what is visible. What has been received too often is moved instead."""
        visible = [each for each in self.messages if each.visible_at <= self._clock()]
        chosen = chance.sample(visible, min(most, len(visible)))
        return [message for message in chosen if self.receive_this(message, visibility=visibility)]

    def receive_this(self, message: Message, *, visibility: float) -> bool:
        """False if it was moved."""
        if self._dead_letters and message.receives >= self._max_receive_count:
            self.messages.remove(message)
            self._dead_letters.messages.append(message)
            return False
        message.receives += 1
        message.receipts.append(f"{message.id}/{message.receives}")
        message.visible_at = self._clock() + visibility
        return True

    def delete(self, message: Message) -> None:
        if message in self.messages:
            self.messages.remove(message)

    def move_all(self, to: "Queue") -> int:
        """StartMessageMoveTask: copies with new ids, body and attributes as they are."""
        moved = list(self.messages)
        for message in moved:
            to.send(message.body, message.attributes)
            self.messages.remove(message)
        return len(moved)


class Sqs:
    """The calls of boto3's client that our functions use. `on_send` is told of each message sent."""

    def __init__(self, *queues: Queue) -> None:
        self._queues = {queue.url: queue for queue in queues}
        self.on_send: Callable[[Queue, Message], None] = _unheeded

    def send_message(
        self,
        *,
        QueueUrl: str,  # noqa: N803
        MessageBody: str,  # noqa: N803
        MessageAttributes: Any,  # noqa: N803
    ) -> dict[str, Any]:
        queue = self._queues[QueueUrl]
        message = queue.send(MessageBody, MessageAttributes)
        self.on_send(queue, message)
        return {"MessageId": message.id}

    def change_message_visibility(
        self,
        *,
        QueueUrl: str,  # noqa: N803
        ReceiptHandle: str,  # noqa: N803
        VisibilityTimeout: int,  # noqa: N803
    ) -> None:
        if not 0 <= VisibilityTimeout <= _LONGEST_VISIBILITY_SECONDS:
            raise _refused("InvalidParameterValue")
        queue = self._queues[QueueUrl]
        message = next((each for each in queue.messages if ReceiptHandle in each.receipts), None)
        if message is None:
            raise _refused("InvalidParameterValue")
        message.visible_at = queue._clock() + VisibilityTimeout


def _unheeded(_queue: Queue, _message: Message) -> None:
    pass


def _refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, "ChangeMessageVisibility")
