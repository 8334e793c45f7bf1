"""A ledger on each DynamoDB there is here, over a wire that can be watched and disturbed."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.model import Policy
from tests.contract.engines import TABLE, moto_table
from tests.contract.servers import Servers

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLES: dict[str, Callable[[Servers], AbstractContextManager["DynamoDBClient"]]] = {
    "moto": lambda _: moto_table(),
    "ministack": lambda servers: nullcontext(servers.table_on_ministack),
    "dynalite": lambda servers: nullcontext(servers.table_on_dynalite),
}


@pytest.fixture(scope="module", params=TABLES)
def dynamodb(servers: Servers, request: pytest.FixtureRequest) -> Iterator["DynamoDBClient"]:
    with TABLES[request.param](servers) as client:
        yield client


@pytest.fixture
def ledger(dynamodb: "DynamoDBClient", policy: Policy) -> DynamoDBLedger:
    return DynamoDBLedger(dynamodb, TABLE, policy)


@pytest.fixture
def calls(dynamodb: "DynamoDBClient") -> Iterator[list[str]]:
    """The operations that go over the wire, retries of the SDK included."""
    sent: list[str] = []

    def note(operation_name: str, **_: Any) -> None:
        sent.append(operation_name)

    dynamodb.meta.events.register("request-created.dynamodb", note)
    yield sent
    dynamodb.meta.events.unregister("request-created.dynamodb", note)


@pytest.fixture
def answers_are_lost(dynamodb: "DynamoDBClient") -> Iterator[None]:
    """Every request of UpdateItem reaches DynamoDB, and the SDK, which hears nothing, sends it again."""
    event = "needs-retry.dynamodb.UpdateItem"

    def repeat(attempts: int, **_: Any) -> int | None:
        return 0 if attempts == 1 else None  # seconds until it is sent again

    lost: Any = repeat  # the stubs know of hooks without an answer only

    dynamodb.meta.events.register_first(event, lost)
    yield
    dynamodb.meta.events.unregister(event, lost)
