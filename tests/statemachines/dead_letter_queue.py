"""The dead-letter queue, a real one in moto; the workflow's way to it follows a script."""

from typing import Any

from botocore.exceptions import ClientError

from tests.statemachines.faults import Play, Script, answer_lost, fails
from tests.statemachines.messages import DeadLetter

_UNAVAILABLE = ClientError({"Error": {"Code": "ServiceUnavailable", "Message": "try again"}}, "SendMessage")

REFUSED: Play = fails(_UNAVAILABLE)
SENT_UNHEARD: Play = answer_lost(_UNAVAILABLE)


class DeadLetterQueue(Script):
    def __init__(self, sqs: Any) -> None:
        super().__init__()
        self.sqs = sqs
        self.url: str = sqs.create_queue(QueueName="dead-letters")["QueueUrl"]

    def send_message(self, **parameters: Any) -> Any:
        return self.play(lambda: self.sqs.send_message(**parameters))

    @property
    def letters(self) -> list[DeadLetter]:
        """What lies in it; looking takes nothing out."""
        received = self.sqs.receive_message(
            QueueUrl=self.url, MaxNumberOfMessages=10, VisibilityTimeout=0, MessageAttributeNames=["All"]
        )
        return [
            DeadLetter(
                body=each["Body"],
                attributes={name: value["StringValue"] for name, value in each["MessageAttributes"].items()},
            )
            for each in received.get("Messages", [])
        ]

    @property
    def reasons(self) -> list[str]:
        return [letter.reason for letter in self.letters]
