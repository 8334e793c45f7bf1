"""Copies for the dead-letter queue: the verbatim body, why it is there, what it needs for the way back."""

import base64
from typing import Any

Attributes = dict[str, dict[str, str]]  # as SendMessage takes them; binary values as base64 text

REASON = "reason"
FIRST_SEEN_AT = "firstSeenAt"  # epoch milliseconds, as SQS writes SentTimestamp
EVENT_KEY = "eventKey"

MAX_ATTRIBUTES = 10  # of one message
MAX_MESSAGE_BYTES = 1_048_576  # body and attributes together

_OURS = {REASON, FIRST_SEEN_AT, EVENT_KEY}
_REASON_BYTES = 64  # kept free for the attribute that is added last


def carried(record: dict[str, Any], *, event_key: str | None = None) -> Attributes:
    """What a copy of this SQS record keeps beside its body, all but the reason.

    Ours come first; the message's own attributes, by name, as long as ten and 1 MiB allow.
    """
    own = record.get("messageAttributes") or {}
    first_seen = text_of(own, FIRST_SEEN_AT) or record["attributes"]["SentTimestamp"]
    kept = {FIRST_SEEN_AT: text(first_seen)}
    if event_key is not None:
        kept[EVENT_KEY] = text(event_key)
    room = MAX_MESSAGE_BYTES - len(record["body"].encode()) - _REASON_BYTES - _size(kept)
    for name in sorted(own.keys() - _OURS):
        attribute = _as_sent(own[name])
        room -= _size({name: attribute})
        if len(kept) + 1 == MAX_ATTRIBUTES or room < 0:
            break
        kept[name] = attribute
    return kept


def send(sqs: Any, queue_url: str, *, body: str, attributes: Attributes, reason: str) -> None:
    """Raises what SQS raises: a message whose copy was refused must not be acknowledged."""
    sqs.send_message(
        QueueUrl=queue_url,
        MessageBody=body,
        MessageAttributes={
            name: _as_called(attribute) for name, attribute in {**attributes, REASON: text(reason)}.items()
        },
    )


def text(value: str) -> dict[str, str]:
    return {"DataType": "String", "StringValue": value}


def text_of(attributes: dict[str, Any], name: str) -> str | None:
    """The value of a textual attribute of a Lambda event's record; None if there is none."""
    value = attributes.get(name, {}).get("stringValue")
    return value if isinstance(value, str) and value.strip() else None


def _as_sent(attribute: dict[str, Any]) -> dict[str, str]:
    if attribute.get("binaryValue") is not None:
        return {"DataType": attribute["dataType"], "BinaryValue": attribute["binaryValue"]}
    return {"DataType": attribute["dataType"], "StringValue": attribute["stringValue"]}


def _as_called(attribute: dict[str, str]) -> dict[str, Any]:
    if "BinaryValue" in attribute:
        return {**attribute, "BinaryValue": base64.b64decode(attribute["BinaryValue"])}
    return dict(attribute)


def _size(attributes: Attributes) -> int:
    return sum(
        len(name.encode()) + sum(len(part.encode()) for part in value.values())
        for name, value in attributes.items()
    )
