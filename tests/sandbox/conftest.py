"""One deployment of ingestion under each semantics for the whole session, with faults at hand."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from sandbox.aws import Sandbox
from sandbox.downstream import Downstream
from tests.sandbox.begun_early import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM, Begun
from tests.sandbox.workload import Workload


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "begun_early(begin, when): see tests/sandbox/begun_early.py")


@pytest.fixture(scope="session")
def workloads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Workload]]:
    """By semantics. Only the downstream of idempotent-downstream honours idempotency keys."""
    with ExitStack() as started:
        downstreams = {
            semantics: started.enter_context(Downstream(dedupe=semantics == IDEMPOTENT_DOWNSTREAM))
            for semantics in (AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM)
        }
        sandbox = started.enter_context(Sandbox(faults=True, logs=tmp_path_factory.mktemp("sandbox-logs")))
        outputs = sandbox.deploy(
            "sandbox/app.py",
            context={f"effectUrl:{semantics}": each.url for semantics, each in downstreams.items()},
        )
        deployed = {
            semantics: Workload(semantics, sandbox, outputs[f"sandbox-ingestion-{semantics}"], downstream)
            for semantics, downstream in downstreams.items()
        }
        for workload in deployed.values():
            workload.redeliver_soon()
        yield deployed


@pytest.fixture(scope="session")
def all_begun(request: pytest.FixtureRequest) -> Begun:
    begun = Begun(request.session.items)
    begun.begin(request.getfixturevalue("workloads"))
    return begun


@pytest.fixture
def workload(semantics: str, all_begun: Begun, request: pytest.FixtureRequest) -> Workload:
    deployed: dict[str, Workload] = request.getfixturevalue("workloads")
    return deployed[semantics]


@pytest.fixture
def begun(request: pytest.FixtureRequest, all_begun: Begun) -> Any:
    """What the test's `begun_early` returned."""
    return all_begun.outcome(request.node)
