"""The wire between a test's client `dynamodb` and its tables, to be watched and disturbed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Hook = Callable[[str, Callable[..., Any]], None]


@pytest.fixture
def hook(dynamodb: "DynamoDBClient") -> Iterator[Hook]:
    """Has something called at one of botocore's events, before anything else, for the length of the test."""
    with ExitStack() as registered:

        def register(event: str, handler: Callable[..., Any]) -> None:
            dynamodb.meta.events.register_first(event, handler)
            registered.callback(dynamodb.meta.events.unregister, event, handler)

        yield register


@pytest.fixture
def lose_answers(hook: Hook) -> Callable[[str], None]:
    """Every request of the operation reaches DynamoDB, and the SDK, which hears nothing, sends it again."""

    def repeat(attempts: int, **_: Any) -> int | None:
        return 0 if attempts == 1 else None  # seconds until it is sent again

    return lambda operation: hook(f"needs-retry.dynamodb.{operation}", repeat)
