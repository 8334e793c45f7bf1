"""A whole function with Powertools: its Logger, a metric, and a handler that its Idempotency guards."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent,
)

log = Logger(service="bench")


@log.inject_lambda_context(clear_state=True)
@idempotent(
    persistence_store=DynamoDBPersistenceLayer(table_name="records"),
    config=IdempotencyConfig(event_key_jmespath="eventId"),
)
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    with single_metric(name="Events", unit=MetricUnit.Count, value=1, namespace="Bench"):
        log.info("done")
    return {"eventId": event["eventId"]}
