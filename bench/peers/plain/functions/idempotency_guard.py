"""State IdempotencyGuard: puts the event's item unless it is there already."""

import os
import time
from typing import Any

import boto3
from aws_lambda_powertools import Logger

log = Logger()
dynamodb = boto3.client("dynamodb")


@log.inject_lambda_context
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    now = int(time.time())
    expires_at = now + int(os.environ["RETENTION_SECONDS"])
    try:
        dynamodb.put_item(
            TableName=os.environ["TABLE_NAME"],
            Item={
                "pk": {"S": f"event:{event['eventId']}"},
                "sk": {"S": "ingestion"},
                "createdAt": {"N": str(now)},
                "expiresAt": {"N": str(expires_at)},
            },
            ConditionExpression="attribute_not_exists(pk)",
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        log.info("duplicate", event_id=event["eventId"])
        return {"proceed": False, "reason": "duplicate"}
    log.info("claimed", event_id=event["eventId"])
    return {"proceed": True, "reason": "claimed"}
