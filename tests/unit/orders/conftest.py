"""Orders on moto: tables that are empty at the start, and a wire that can be watched and disturbed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.unit.dynamodb_wire import Hook, hook, lose_answers
from tests.unit.orders.edge import Edge
from tests.unit.orders.tables import empty, order_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["Hook", "hook", "lose_answers"]


@pytest.fixture(scope="module")
def tables() -> Iterator["DynamoDBClient"]:
    with order_tables() as client:
        yield client


@pytest.fixture
def dynamodb(tables: "DynamoDBClient") -> Iterator["DynamoDBClient"]:
    yield tables
    empty(tables)


@pytest.fixture
def edge(dynamodb: "DynamoDBClient") -> Edge:
    return Edge(dynamodb)
