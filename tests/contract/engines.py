"""Every store that is held to the ledger's contract, on each engine that runs in this process."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import boto3
from botocore.config import Config
from moto import mock_aws
from moto.dynamodb.responses import DynamoHandler
from moto.ssm.responses import SimpleSystemManagerResponse

from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.adapters.memory import MemoryLedger
from idempotency.adapters.ssm import SsmLedger
from idempotency.ledger import Ledger
from idempotency.model import Key, Policy, Record
from tests.contract.expressions import check_expressions
from tests.contract.lives import NOW
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.wire import standing

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "ledger"
PREFIX = "/idempotency/contract"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """`at_rest` is all that the store holds of a key, for byte-by-byte comparison; `attributes` are the names
    of what it says of the key's state now.
    """

    ledger: Callable[[Policy], Ledger]
    at_rest: Callable[[Ledger, Key], object]
    attributes: Callable[[Ledger, Key], set[str]]


@contextmanager
def memory() -> Iterator[Engine]:
    def present(ledger: Ledger, key: Key) -> set[str]:
        record = ledger.read(key)
        return {name for name in Record.__slots__ if getattr(record, name) is not None}

    yield Engine(ledger=MemoryLedger, at_rest=lambda ledger, key: ledger.read(key), attributes=present)


@contextmanager
def dynamodb_on_moto() -> Iterator[Engine]:
    with moto_table() as client:
        yield dynamodb(client)


@contextmanager
def ssm_on_strict_fake() -> Iterator[Engine]:
    yield ssm(StrictParameterStore(lambda: NOW))


@contextmanager
def ssm_on_moto() -> Iterator[Engine]:
    with moto_parameters() as client:
        yield ssm(client)


ENGINES: dict[str, Callable[[], AbstractContextManager[Engine]]] = {
    "memory": memory,
    "dynamodb-on-moto": dynamodb_on_moto,
    "ssm-on-strict-fake": ssm_on_strict_fake,
    "ssm-on-moto": ssm_on_moto,
}


def dynamodb(client: "DynamoDBClient") -> Engine:
    """On any client of DynamoDB with the ledger's table."""
    return Engine(
        ledger=lambda policy: DynamoDBLedger(client, TABLE, policy),
        at_rest=lambda _, key: item(client, key),
        attributes=lambda _, key: set(item(client, key) or ()),
    )


def ssm(client: Any) -> Engine:
    """On any client of Parameter Store. Nobody waits: a pause takes none of the test's time."""

    def steps(_: Ledger, key: Key) -> dict[int, str]:
        path = f"{PREFIX}/{key.digest()}"
        return {int(name.removeprefix(f"{path}/")): value for name, value in standing(client, path).items()}

    def latest(ledger: Ledger, key: Key) -> set[str]:
        found = steps(ledger, key)
        return set(json.loads(found[max(found)]))

    return Engine(
        ledger=lambda policy: SsmLedger(client, PREFIX, policy, pause=lambda _: None),
        at_rest=steps,
        attributes=latest,
    )


@contextmanager
def moto_parameters() -> Iterator[Any]:
    """A client of moto's Parameter Store; as with its DynamoDB, a lock makes creations atomic."""
    atomic = Lock()
    put_parameter = SimpleSystemManagerResponse.put_parameter

    def one_at_a_time(response: SimpleSystemManagerResponse) -> Any:
        with atomic:
            return put_parameter(response)

    with mock_aws(), patch.object(SimpleSystemManagerResponse, "put_parameter", one_at_a_time):
        yield boto3.client("ssm", config=Config(max_pool_connections=50))


@contextmanager
def moto_table() -> Iterator["DynamoDBClient"]:
    """A client of moto's DynamoDB with the ledger's table; every write's expressions are checked.

    moto evaluates a condition and then writes, without a lock between: DynamoDB is atomic, so one is added.
    """
    atomic = Lock()
    update_item = DynamoHandler.update_item

    def one_at_a_time(handler: DynamoHandler) -> Any:
        with atomic:
            return update_item(handler)

    with mock_aws(), patch.object(DynamoHandler, "update_item", one_at_a_time):
        client = boto3.client("dynamodb", config=Config(max_pool_connections=50))
        client.meta.events.register("before-parameter-build.dynamodb.UpdateItem", check_expressions)
        create_table(client)
        yield client


def create_table(client: "DynamoDBClient") -> None:
    client.create_table(
        TableName=TABLE,
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
            {"AttributeName": "attention", "AttributeType": "S"},
            {"AttributeName": "updatedAt", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "attention",
                "KeySchema": [
                    {"AttributeName": "attention", "KeyType": "HASH"},
                    {"AttributeName": "updatedAt", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def item(client: "DynamoDBClient", key: Key) -> dict[str, Any] | None:
    answer: Any = client.get_item(TableName=TABLE, Key={"pk": {"S": key.pk}, "sk": {"S": key.sk}})
    found: dict[str, Any] | None = answer.get("Item")
    return found
