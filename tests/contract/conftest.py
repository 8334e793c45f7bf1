"""One ledger per test, over every engine; each test has a key of its own in a store that tests share."""

from collections.abc import Iterator
from itertools import count

import pytest
import pytest_socket

from idempotency.ledger import Ledger
from idempotency.model import Key, Policy
from tests.contract.engines import ENGINES, Engine
from tests.contract.lives import AT_MOST_ONCE, Worker
from tests.contract.servers import SERVED, Servers

_numbers = count(1)


@pytest.fixture(autouse=True)
def sockets() -> None:
    """To this machine only; the plugin lifts this after each test."""
    pytest_socket.socket_allow_hosts(["127.0.0.1"])


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with Servers(logs=tmp_path_factory.mktemp("servers-logs")) as servers:
        yield servers


@pytest.fixture(scope="module", params=[*ENGINES, *SERVED])
def engine(servers: Servers, request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param in SERVED:
        yield SERVED[request.param](servers)
        return
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
