"""Empty tables, and a wire that can be watched and disturbed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.unit.dynamodb_wire import Hook, hook, lose_answers
from tests.unit.powertools_fencing.table import empty, moto_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["Hook", "hook", "lose_answers"]


@pytest.fixture(scope="module")
def tables() -> Iterator["DynamoDBClient"]:
    with moto_tables() as client:
        yield client


@pytest.fixture
def dynamodb(tables: "DynamoDBClient") -> Iterator["DynamoDBClient"]:
    yield tables
    empty(tables)


@pytest.fixture
def calls(hook: Hook) -> list[str]:
    """The operations that go over the wire, retries of the SDK included."""
    sent: list[str] = []
    hook("request-created.dynamodb", lambda operation_name, **_: sent.append(operation_name))
    return sent
