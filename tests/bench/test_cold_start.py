"""A cold start is measured of every function there is, up to its first call."""

from pathlib import Path

import pytest

from bench.row import Sample
from bench.rows import cold_start
from bench.starts.deployed import Function
from bench.starts.endpoint import answering
from bench.starts.events import EVENTS
from stacks.vendor import LAYER

LAMBDAS = Path(__file__).parents[2] / "lambdas"
HANDLERS = {
    ".".join(path.relative_to(LAMBDAS).with_suffix("").parts)
    for path in LAMBDAS.rglob("*.py")
    if "\ndef handler(" in path.read_text(encoding="utf-8")
}


def function(code: Path, handler: str, **environment: str) -> Function:
    return Function(handler=handler, environment=environment, code=code, layer=LAYER / "python")


GUARD = function(
    LAMBDAS,
    "ingestion.idempotency_guard.handler",
    POWERTOOLS_SERVICE_NAME="bench",
    POWERTOOLS_METRICS_NAMESPACE="Bench",
    SDK_CONNECT_TIMEOUT="1",
    SDK_READ_TIMEOUT="1",
    SDK_ATTEMPTS="1",
    SEMANTICS="at-most-once",
    MARGIN_SECONDS="1",
    LEDGER_TABLE="ledger",
    LEASE_SECONDS="60",
)


def test_every_function_has_an_event_that_leads_it_to_its_first_call() -> None:
    assert EVENTS.keys() == HANDLERS


def test_a_start_ends_with_the_first_call() -> None:
    with answering() as endpoint:
        assert 0 < cold_start.start(GUARD, endpoint) < 60


def test_a_call_that_nobody_answers_is_not_measured() -> None:
    with answering() as endpoint:
        pass  # nobody listens there any more
    with pytest.raises(RuntimeError, match=r"idempotency_guard\.handler made no call"):
        cold_start.start(GUARD, endpoint)


def test_a_function_that_calls_nothing_is_not_measured(tmp_path: Path) -> None:
    (tmp_path / "idle.py").write_text("import botocore.session\ndef handler(event, context): pass\n")
    with answering() as endpoint, pytest.raises(RuntimeError, match="without a call to AWS"):
        cold_start.start(function(tmp_path, "idle.handler"), endpoint)


def test_the_function_that_is_beyond_a_goal_is_named() -> None:
    taken = {name: Sample.of([1.0, 1.0, 1.0]) for name in cold_start._PEERS}
    row = cold_start.row({**taken, "quick": Sample.of([0.5, 0.9, 0.6]), "slow": Sample.of([1.1, 1.1, 1.2])})
    to_bare, to_powertools = row.goals
    assert to_bare.met
    assert to_bare.measured == "0.60 to 1.10 x"
    assert not to_powertools.met
    assert to_powertools.measured == "0.60 to 1.10 x; beyond: slow"
