"""One ledger per test, over every engine; each test has a key of its own in a store that tests share."""

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest

from idempotency.ledger import Ledger
from idempotency.model import Key, Policy
from tests.contract.engines import ENGINES, Engine, moto_table
from tests.contract.lives import AT_MOST_ONCE, Worker

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_numbers = count(1)


@pytest.fixture(scope="module", params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with ENGINES[request.param]() as engine:
        yield engine


@pytest.fixture
def policy() -> Policy:
    """What a ledger is built with where a test does not choose."""
    return AT_MOST_ONCE


@pytest.fixture
def ledger(engine: Engine, policy: Policy) -> Ledger:
    return engine.ledger(policy)


@pytest.fixture
def key() -> Key:
    return Key(pk=f"charge:CHG-{next(_numbers)}", sk="contract")


@pytest.fixture
def worker(ledger: Ledger, key: Key) -> Worker:
    return Worker(ledger, key)


@pytest.fixture(scope="module")
def dynamodb() -> Iterator["DynamoDBClient"]:
    with moto_table() as client:
        yield client
