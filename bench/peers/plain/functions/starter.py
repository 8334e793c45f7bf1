"""Starts an execution for each message; the workflow's guard is there for those that come twice."""

import json
import os
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from botocore.exceptions import ClientError

log = Logger()
stepfunctions = boto3.client("stepfunctions")


@log.inject_lambda_context
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    failed = []
    for record in event["Records"]:
        try:
            start(record)
        except (ClientError, KeyError, ValueError):
            log.exception("not started", message_id=record["messageId"])
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}


def start(record: dict[str, Any]) -> None:
    """The event's own id is the key, not the message's: a producer that sends again makes a new message."""
    event_id = json.loads(record["body"])["eventId"]
    stepfunctions.start_execution(
        stateMachineArn=os.environ["STATE_MACHINE_ARN"],
        input=json.dumps({"eventId": event_id, "messageId": record["messageId"], "body": record["body"]}),
    )
    log.info("started", event_id=event_id, message_id=record["messageId"])
