"""SQS messages as the starter's event source hands them over, and as they lie in the dead-letter queue."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

Message = dict[str, Any]  # one record of a Lambda event from SQS

SENT_AT = "1800000000123"  # epoch milliseconds

# Valid JSON of the kind that copies tend to spoil.
EVENT = '{"eventId": "E-1",\n  "note": "Zo\u00eb said \\"hi\\" \u2603 \U0001f389\\n\\\\", "amount": 1.50 }\n'
CHANGED_EVENT = '{"eventId": "E-1", "amount": 99}'

_numbers = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    body: str
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        return self.attributes["reason"]


def message(body: str, **attributes: str) -> Message:
    """A new message: each call gives another MessageId."""
    return {
        "messageId": f"message-{next(_numbers)}",
        "body": body,
        "attributes": {"SentTimestamp": SENT_AT},
        "messageAttributes": {
            name: {"dataType": "String", "stringValue": value} for name, value in attributes.items()
        },
    }


def redriven(letter: DeadLetter) -> Message:
    """What StartMessageMoveTask does: same body and attributes, a new MessageId."""
    return message(letter.body, **letter.attributes)
