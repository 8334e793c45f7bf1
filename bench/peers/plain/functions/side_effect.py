"""State SideEffect: posts the event's body to the downstream; completes the item only in one variant."""

import http.client
import os
import time
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from aws_lambda_powertools import Logger

log = Logger()


@log.inject_lambda_context
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    url = urlsplit(os.environ["EFFECT_URL"])
    make = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = make(url.hostname or "", url.port, timeout=float(os.environ["EFFECT_DEADLINE_SECONDS"]))
    try:
        connection.request(
            "POST",
            url.path or "/",
            event["body"],
            {"Content-Type": "application/json", "Idempotency-Key": event["eventId"]},
        )
        status = connection.getresponse().status
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise RuntimeError(f"HTTP {status}")
    if "COMPLETES_IN_TABLE" in os.environ:
        complete(os.environ["COMPLETES_IN_TABLE"], event["eventId"])
    log.info("done", event_id=event["eventId"])
    return {"status": status}


def complete(table: str, event_id: str) -> None:
    """What the pattern does without: the barest write that says how an event ended."""
    dynamodb().update_item(
        TableName=table,
        Key={"pk": {"S": f"event:{event_id}"}, "sk": {"S": "ingestion"}},
        UpdateExpression="SET #state = :done, updatedAt = :now",
        ExpressionAttributeNames={"#state": "state"},
        ExpressionAttributeValues={":done": {"S": "DONE"}, ":now": {"N": str(int(time.time()))}},
    )


@cache
def dynamodb() -> Any:
    import boto3  # noqa: PLC0415 - the pattern's own function has no use for it

    return boto3.client("dynamodb")
