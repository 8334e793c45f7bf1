"""The least that a function with boto3 does: a client, and one call."""

from typing import Any

import boto3


def handler(event: dict[str, Any], _context: Any) -> None:
    boto3.client("dynamodb").update_item(
        TableName="records",
        Key={"pk": {"S": event["eventId"]}},
        UpdateExpression="SET seen = :seen",
        ExpressionAttributeValues={":seen": {"BOOL": True}},
    )
