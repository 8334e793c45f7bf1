"""The same, with the Logger and a metric of Powertools, as every function of ours has them."""

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

log = Logger(service="bench")


@log.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: Any) -> None:
    with single_metric(name="Events", unit=MetricUnit.Count, value=1, namespace="Bench"):
        log.info("seen")
    boto3.client("dynamodb").update_item(
        TableName="records",
        Key={"pk": {"S": event["eventId"]}},
        UpdateExpression="SET seen = :seen",
        ExpressionAttributeValues={":seen": {"BOOL": True}},
    )
