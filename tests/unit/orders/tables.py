"""The tables of orders on moto: the records of requests, and Powertools' records of tasks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.unit.powertools_fencing.table import create_table, moto_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ORDERS, TASKS = "orders", "tasks"

_KEYS = {ORDERS: ("pk", "sk"), TASKS: ("id",)}


@contextmanager
def order_tables() -> Iterator["DynamoDBClient"]:
    """As atomic as DynamoDB is."""
    with moto_tables() as client:
        create_order_tables(client)
        yield client


def create_order_tables(client: "DynamoDBClient") -> None:
    for name, keys in _KEYS.items():
        create_table(client, name, *keys)


def empty(client: "DynamoDBClient") -> None:
    for table, keys in _KEYS.items():
        for item in client.scan(TableName=table)["Items"]:
            client.delete_item(TableName=table, Key={key: item[key] for key in keys})


def items(client: "DynamoDBClient", table: str) -> list[dict[str, Any]]:
    """All of them, numbers as the text that DynamoDB gives."""
    return [
        {name: next(iter(value.values())) for name, value in item.items()}
        for item in client.scan(TableName=table)["Items"]
    ]
