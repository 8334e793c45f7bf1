"""One workflow per test, without sockets: moto in this process, a clock that the test moves."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
import pytest_socket
from moto import mock_aws

import wiring
from executions.handled import HandledEnds
from idempotency.adapters.memory import MemoryLedger
from idempotency.ledger import Ledger
from idempotency.model import Policy, Semantics
from orders import order_table, tasks
from stacks.settings import IngestionSettings
from tests.statemachines import moto_parser, orders_clock
from tests.statemachines.clock import Clock
from tests.statemachines.definition import orders_settings, stage_settings
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.orders_run import OrdersRun
from tests.unit.orders.tables import create_order_tables
from tests.unit.powertools_fencing.table import atomic_writes

TABLE = "ledger"


@pytest.fixture(autouse=True)
def _no_sockets() -> Iterator[None]:
    pytest_socket.disable_socket(allow_unix_socket=True)
    yield
    pytest_socket.enable_socket()


@pytest.fixture(scope="session")
def clients() -> dict[str, Any]:
    """Making one takes longer than a whole execution."""
    make: Any = boto3.client
    return {service: make(service) for service in ("dynamodb", "sqs", "stepfunctions")}


@pytest.fixture
def aws(clients: dict[str, Any]) -> Iterator[dict[str, Any]]:
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        clients["dynamodb"].create_table(
            TableName=TABLE,
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
        yield clients


@pytest.fixture(params=list(Semantics), ids=str)
def semantics(request: pytest.FixtureRequest) -> Semantics:
    return Semantics(request.param)


@pytest.fixture
def overrides() -> dict[str, object]:
    """Settings other than those of the stage `dev`."""
    return {}


@pytest.fixture
def settings(semantics: Semantics, overrides: dict[str, object]) -> IngestionSettings:
    return stage_settings("dev", semantics=semantics.value, **overrides)


@pytest.fixture
def policy(settings: IngestionSettings) -> Policy:
    return Policy(
        semantics=Semantics(settings.semantics),
        margin=settings.margin_seconds,
        retry_failed=settings.on_failed_duplicate == "retry",
    )


@pytest.fixture
def ledger(policy: Policy, aws: dict[str, Any]) -> Ledger:
    return MemoryLedger(policy)


@pytest.fixture
def ingestion(
    settings: IngestionSettings, ledger: Ledger, aws: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[IngestionRun]:
    run = IngestionRun(
        settings,
        ledger=ledger,
        handled=HandledEnds(aws["dynamodb"], TABLE),
        clock=Clock(),
        sqs=aws["sqs"],
        stepfunctions=aws["stepfunctions"],
    )
    moto_parser.install(monkeypatch, run.surroundings)
    yield run
    assert run.downstream.without_claim == [], "an effect was caused without a live claim"


@pytest.fixture
def orders(aws: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[OrdersRun]:
    create_order_tables(aws["dynamodb"])
    run = OrdersRun(orders_settings("dev"), dynamodb=aws["dynamodb"], stepfunctions=aws["stepfunctions"])
    for name, value in run.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(wiring, "client", {"dynamodb": aws["dynamodb"]}.__getitem__)
    downstreams = {"PAYMENT": run.payment, "PROVISIONING": run.provisioning}
    monkeypatch.setattr(wiring, "http_effect", downstreams.__getitem__)
    monkeypatch.setattr(wiring, "clock", run.clock)
    orders_clock.install(monkeypatch, run.clock)
    moto_parser.install(monkeypatch, run.surroundings)
    order_table.orders.cache_clear()
    tasks._layer.cache_clear()
    with atomic_writes():
        yield run
    order_table.orders.cache_clear()
    tasks._layer.cache_clear()
