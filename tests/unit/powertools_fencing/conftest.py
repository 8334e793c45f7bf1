"""Empty tables, and a wire that can be watched and disturbed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.powertools_fencing.table import empty, moto_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Hook = Callable[[str, Callable[..., Any]], None]


@pytest.fixture(scope="module")
def tables() -> Iterator["DynamoDBClient"]:
    with moto_tables() as client:
        yield client


@pytest.fixture
def dynamodb(tables: "DynamoDBClient") -> Iterator["DynamoDBClient"]:
    yield tables
    empty(tables)


@pytest.fixture
def hook(dynamodb: "DynamoDBClient") -> Iterator[Hook]:
    """Has something called at one of botocore's events, before anything else, for the length of the test."""
    with ExitStack() as registered:

        def register(event: str, handler: Callable[..., Any]) -> None:
            dynamodb.meta.events.register_first(event, handler)
            registered.callback(dynamodb.meta.events.unregister, event, handler)

        yield register


@pytest.fixture
def calls(hook: Hook) -> list[str]:
    """The operations that go over the wire, retries of the SDK included."""
    sent: list[str] = []
    hook("request-created.dynamodb", lambda operation_name, **_: sent.append(operation_name))
    return sent


@pytest.fixture
def lose_answers(hook: Hook) -> Callable[[str], None]:
    """Every request of the operation reaches DynamoDB, and the SDK, which hears nothing, sends it again."""

    def repeat(attempts: int, **_: Any) -> int | None:
        return 0 if attempts == 1 else None  # seconds until it is sent again

    return lambda operation: hook(f"needs-retry.dynamodb.{operation}", repeat)
