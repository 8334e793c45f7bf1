"""Powertools' table on moto, and the processes whose guarded calls meet in it."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from queue import Queue
from threading import Event, Lock
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import boto3
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from botocore.config import Config
from moto import mock_aws
from moto.dynamodb.responses import DynamoHandler

from powertools_fencing import FencedDynamoDBPersistenceLayer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "idempotency"
TABLES = {TABLE: ("id",), "composite": ("pk", "sk")}
KINDS = ("HASH", "RANGE")
ENOUGH, LONG_OVER = 300_000, -60_000  # milliseconds left; the latter makes a lease that ended a minute ago

Result = Callable[[], object]


@contextmanager
def moto_tables() -> Iterator["DynamoDBClient"]:
    """Tables with a partition key `id`, and with a composite key."""
    with atomic_writes(), mock_aws():
        client = boto3.client("dynamodb", config=Config(max_pool_connections=50))
        for name, keys in TABLES.items():
            create_table(client, name, *keys)
        yield client


@contextmanager
def atomic_writes() -> Iterator[None]:
    """moto evaluates a condition and then writes, without a lock between; DynamoDB is atomic."""
    atomic = Lock()

    def one_at_a_time(operation: Callable[[DynamoHandler], Any]) -> Callable[[DynamoHandler], Any]:
        def locked(handler: DynamoHandler) -> Any:
            with atomic:
                return operation(handler)

        return locked

    with ExitStack() as patches:
        for name in ("put_item", "update_item", "delete_item"):
            write = getattr(DynamoHandler, name)
            patches.enter_context(patch.object(DynamoHandler, name, one_at_a_time(write)))
        yield


def create_table(client: "DynamoDBClient", name: str, *keys: str) -> None:
    schema: Any = [{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, KINDS, strict=False)]
    client.create_table(
        TableName=name,
        KeySchema=schema,
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        BillingMode="PAY_PER_REQUEST",
    )


def empty(client: "DynamoDBClient") -> None:
    for table, keys in TABLES.items():
        for item in client.scan(TableName=table)["Items"]:
            client.delete_item(TableName=table, Key={key: item[key] for key in keys})


def records(client: "DynamoDBClient", table: str = TABLE) -> list[dict[str, Any]]:
    return [
        {name: next(iter(value.values())) for name, value in item.items()}
        for item in client.scan(TableName=table)["Items"]
    ]


@dataclass
class LambdaContext:
    """As much of it as Powertools reads."""

    remaining: int

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining


def fenced(client: "DynamoDBClient", **options: Any) -> FencedDynamoDBPersistenceLayer:
    return FencedDynamoDBPersistenceLayer(TABLE, boto3_client=client, **options)


def original(client: "DynamoDBClient", **options: Any) -> DynamoDBPersistenceLayer:
    return DynamoDBPersistenceLayer(TABLE, boto3_client=client, **options)


@dataclass(slots=True)
class Process:
    """An execution environment: a layer of its own and one guarded function, which does as it is told."""

    layer: DynamoDBPersistenceLayer
    remaining: int | None = ENOUGH
    options: dict[str, Any] = field(default_factory=dict)
    runs: int = 0
    _charge: Callable[..., Any] = field(init=False)

    def __post_init__(self) -> None:
        config = IdempotencyConfig(**{"event_key_jmespath": "orderId"} | self.options)
        if self.remaining is not None:
            context: Any = LambdaContext(self.remaining)
            config.register_lambda_context(context)

        self._charge = idempotent_function(
            self._run,
            data_keyword_argument="order",
            persistence_store=self.layer,
            config=config,
            key_prefix="charge",
        )

    def _run(self, *, order: dict[str, Any], work: Result) -> object:  # noqa: ARG002 - what it is guarded by
        self.runs += 1
        return work()

    def charge(self, work: Result = lambda: "charged", **order: Any) -> object:
        return self._charge(order={"orderId": "O-1"} | order, work=work)

    def abandon(self, **order: Any) -> None:
        """Claims, and dies at work."""
        with suppress(SystemExit):
            self.charge(sys.exit, **order)


class Ongoing:
    """A guarded call in a thread of its own, which is at work until it is told how to end."""

    def __init__(self, process: Process, **order: Any) -> None:
        self._working = Event()
        self._told: Queue[object] = Queue()
        self._thread = ThreadPoolExecutor(1)
        self._call = self._thread.submit(process.charge, self._work, **order)
        assert self._working.wait(timeout=30), self._call.result(timeout=30)

    def _work(self) -> object:
        self._working.set()
        end = self._told.get(timeout=30)
        if isinstance(end, BaseException):
            raise end
        return end

    def end(self, end: object) -> object:
        """Its work returns `end`, or raises it; answers what the guarded call came to."""
        self._told.put(end)
        with self._thread:
            return self._call.result(timeout=30)
