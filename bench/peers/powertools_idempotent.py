"""A handler that AWS Lambda Powertools makes idempotent, as its documentation shows it."""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent,
)

Handler = Callable[[dict[str, Any], Any], object]


def handler(effect: Callable[[dict[str, Any]], object], *, client: Any, table: str) -> Handler:
    """For events identified by their `eventId`, in a table with the partition key `id`."""

    @idempotent(
        persistence_store=DynamoDBPersistenceLayer(table_name=table, boto3_client=client),
        config=IdempotencyConfig(event_key_jmespath="eventId"),
    )
    def handle(event: dict[str, Any], _context: Any) -> object:
        return effect(event)

    answer: Handler = handle
    return answer
