"""One deployment of each workload under each semantics for the whole session, with faults at hand."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from sandbox.aws import Sandbox
from sandbox.downstream import Downstream
from tests.sandbox.begun_early import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM, Begun
from tests.sandbox.charges import Charges
from tests.sandbox.orders_api import DeployedOrders
from tests.sandbox.registrations import Registrations
from tests.sandbox.workload import Workload

BOTH = (AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "begun_early(begin, when): see tests/sandbox/begun_early.py")
    config.addinivalue_line("markers", "after_all_others: judges what the session's other tests have done")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("after_all_others") is not None)


@pytest.fixture(scope="session")
def workloads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Workload]]:
    """By semantics. Only the downstream of idempotent-downstream honours idempotency keys."""
    with ExitStack() as started:
        downstreams = {
            semantics: started.enter_context(Downstream(dedupe=semantics == IDEMPOTENT_DOWNSTREAM))
            for semantics in BOTH
        }
        sandbox = started.enter_context(Sandbox(faults=True, logs=tmp_path_factory.mktemp("sandbox-logs")))
        outputs = sandbox.deploy(
            "sandbox/app.py",
            context={
                "workload": "ingestion",
                **{f"effectUrl:{semantics}": each.url for semantics, each in downstreams.items()},
            },
        )
        deployed = {
            semantics: Workload(semantics, sandbox, outputs[f"sandbox-ingestion-{semantics}"], downstream)
            for semantics, downstream in downstreams.items()
        }
        for workload in deployed.values():
            workload.deployment.redeliver_after(17)  # the starter's timeout and a little more
        yield deployed


@pytest.fixture(scope="session")
def charges_deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Charges]]:
    """By semantics, in an emulator of their own. Both banks honour idempotency keys."""
    with ExitStack() as started:
        banks, notifications = (
            {semantics: started.enter_context(Downstream(dedupe=dedupe)) for semantics in BOTH}
            for dedupe in (True, False)
        )
        sandbox = started.enter_context(Sandbox(faults=True, logs=tmp_path_factory.mktemp("charges-logs")))
        outputs = sandbox.deploy(
            "sandbox/app.py",
            context={
                "workload": "charges",
                **{f"bankUrl:{semantics}": each.url for semantics, each in banks.items()},
                **{f"notificationUrl:{semantics}": each.url for semantics, each in notifications.items()},
            },
        )
        yield {
            semantics: Charges(
                semantics,
                sandbox,
                outputs[f"sandbox-charges-{semantics}"],
                bank=banks[semantics],
                notifications=notifications[semantics],
            )
            for semantics in BOTH
        }


@pytest.fixture(scope="session")
def registrations_deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Registrations]]:
    """By semantics, in an emulator of their own. Only one registry honours idempotency keys."""
    with ExitStack() as started:
        registries = {
            semantics: started.enter_context(Downstream(dedupe=semantics == IDEMPOTENT_DOWNSTREAM))
            for semantics in BOTH
        }
        notifications = {semantics: started.enter_context(Downstream()) for semantics in BOTH}
        logs = tmp_path_factory.mktemp("registrations-logs")
        sandbox = started.enter_context(Sandbox(faults=True, logs=logs))
        outputs = sandbox.deploy(
            "sandbox/app.py",
            context={
                "workload": "registrations",
                **{f"registryUrl:{semantics}": each.url for semantics, each in registries.items()},
                **{
                    f"registrationNotificationUrl:{semantics}": each.url
                    for semantics, each in notifications.items()
                },
            },
        )
        yield {
            semantics: Registrations(
                semantics,
                sandbox,
                outputs[f"sandbox-registrations-{semantics}"],
                registry=registries[semantics],
                notifications=notifications[semantics],
            )
            for semantics in BOTH
        }


@pytest.fixture(scope="session")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeployedOrders]:
    """In an emulator of their own. Both providers honour idempotency keys."""
    with ExitStack() as started:
        payment, provisioning = (started.enter_context(Downstream(dedupe=True)) for _ in range(2))
        logs = tmp_path_factory.mktemp("orders-logs")
        sandbox = started.enter_context(Sandbox(faults=True, logs=logs))
        outputs = sandbox.deploy(
            "sandbox/app.py",
            context={"workload": "orders", "paymentUrl": payment.url, "provisioningUrl": provisioning.url},
        )
        yield DeployedOrders(sandbox, outputs["sandbox-orders"], payment=payment, provisioning=provisioning)


@pytest.fixture(scope="session")
def all_begun(request: pytest.FixtureRequest) -> Begun:
    """Deploys what the selected tests use, and nothing else; charges first, whose leases take longest."""
    begun = Begun(request.session.items)
    for fixture, deployed in (
        ("charges", "charges_deployed"),
        ("registrations", "registrations_deployed"),
        ("workload", "workloads"),
    ):
        if any(fixture in getattr(item, "fixturenames", ()) for item in request.session.items):
            begun.begin(fixture, request.getfixturevalue(deployed))
    return begun


@pytest.fixture
def workload(semantics: str, all_begun: Begun, request: pytest.FixtureRequest) -> Workload:
    deployed: dict[str, Workload] = request.getfixturevalue("workloads")
    return deployed[semantics]


@pytest.fixture
def charges(semantics: str, all_begun: Begun, request: pytest.FixtureRequest) -> Charges:
    deployed: dict[str, Charges] = request.getfixturevalue("charges_deployed")
    return deployed[semantics]


@pytest.fixture
def registrations(semantics: str, all_begun: Begun, request: pytest.FixtureRequest) -> Registrations:
    deployed: dict[str, Registrations] = request.getfixturevalue("registrations_deployed")
    return deployed[semantics]


@pytest.fixture
def begun(request: pytest.FixtureRequest, all_begun: Begun) -> Any:
    """What the test's `begun_early` returned."""
    return all_begun.outcome(request.node)
