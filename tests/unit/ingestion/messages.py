"""Records as Lambda gets them from SQS."""

import json
from typing import Any


def message(
    body: object,
    *,
    message_id: str = "5b1c9f2e-0000-4000-8000-000000000001",
    attributes: dict[str, dict[str, Any]] | None = None,
    receive_count: int = 1,
    sent_at: str = "1800000000000",
) -> dict[str, Any]:
    """`body` as it is if it is text, else as JSON; `sent_at` in epoch milliseconds."""
    return {
        "messageId": message_id,
        "receiptHandle": f"handle-{receive_count}",
        "body": body if isinstance(body, str) else json.dumps(body),
        "attributes": {
            "ApproximateReceiveCount": str(receive_count),
            "SentTimestamp": sent_at,
            "SenderId": "AIDA",
            "ApproximateFirstReceiveTimestamp": f"180000000{receive_count}000",
        },
        "messageAttributes": attributes or {},
        "md5OfBody": "-",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:work",
        "awsRegion": "us-east-1",
    }


def text(value: str, data_type: str = "String") -> dict[str, Any]:
    return {
        "stringValue": value,
        "binaryValue": None,
        "stringListValues": [],
        "binaryListValues": [],
        "dataType": data_type,
    }


def binary(base64_text: str) -> dict[str, Any]:
    return {
        "stringValue": None,
        "binaryValue": base64_text,
        "stringListValues": [],
        "binaryListValues": [],
        "dataType": "Binary",
    }
