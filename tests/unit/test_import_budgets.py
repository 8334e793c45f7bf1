"""What each function loads before its first event, counted: every module is paid for at each cold start."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from stacks.vendor import LAYER

LAMBDAS = Path(__file__).parents[2] / "lambdas"
HANDLERS = sorted(
    ".".join(path.relative_to(LAMBDAS).with_suffix("").parts)
    for path in LAMBDAS.rglob("*.py")
    if "\ndef handler(" in path.read_text(encoding="utf-8")
)
# At most so many modules of ours, and so many of the layer. Raise one knowingly.
BUDGETS = {
    "charges.consumer": (24, 41),
    "ingestion.idempotency_guard": (12, 41),
    "ingestion.reconciler": (18, 41),
    "ingestion.record_failure": (12, 41),
    "ingestion.side_effect": (12, 41),
    "ingestion.starter": (13, 41),
    "orders.accept_order": (20, 51),
    "orders.begin_order": (13, 41),
    "orders.charge_payment": (19, 59),
    "orders.finish_order": (13, 41),
    "orders.order_status": (18, 41),
    "orders.provision_item": (19, 59),
    "orders.reconciler": (20, 41),
    "registrations.processor": (23, 41),
    "registrations.sweeper": (17, 41),
}
WITH_POWERTOOLS_IDEMPOTENCY = {"orders.charge_payment", "orders.provision_item"}

TELLING = """
import importlib, json, sys
import botocore.session
before = set(sys.modules)
importlib.import_module(sys.argv[1])
found = {name: getattr(sys.modules[name], "__file__", None) for name in sys.modules.keys() - before}
print(json.dumps(found))
"""


@cache
def loaded(handler: str) -> dict[str, str]:
    """The modules that a handler's import adds to botocore's, with their files: the layer's, as deployed."""
    told = subprocess.run(
        [sys.executable, "-c", TELLING, handler],
        env={"PYTHONPATH": f"{LAMBDAS}:{LAYER / 'python'}"},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return {name: file for name, file in json.loads(told.stdout).items() if file}


def packages(handler: str) -> set[str]:
    """Ours, of which modules were loaded."""
    return {
        name.partition(".")[0] for name, file in loaded(handler).items() if Path(file).is_relative_to(LAMBDAS)
    }


def test_every_function_has_its_budget() -> None:
    assert sorted(BUDGETS) == HANDLERS


@pytest.mark.parametrize("handler", HANDLERS)
def test_a_function_keeps_within_its_budget(handler: str) -> None:
    for folder, most in zip((LAMBDAS, LAYER), BUDGETS[handler], strict=True):
        found = [name for name, file in loaded(handler).items() if Path(file).is_relative_to(folder)]
        assert len(found) <= most, sorted(found)


@pytest.mark.parametrize("handler", HANDLERS)
def test_a_function_loads_nothing_of_another_workload(handler: str) -> None:
    workloads = {"ingestion", "charges", "registrations", "orders"}
    assert packages(handler) & workloads == {handler.partition(".")[0]}


@pytest.mark.parametrize("handler", HANDLERS)
def test_a_function_loads_no_ledger_before_it_builds_one(handler: str) -> None:
    adapters = [name for name in loaded(handler) if name.startswith("idempotency.adapters.")]
    if handler == "registrations.sweeper":  # has nothing else to do
        adapters = [name for name in adapters if not name.startswith("idempotency.adapters.ssm")]
    assert adapters == []


@pytest.mark.parametrize("handler", HANDLERS)
def test_of_powertools_a_function_loads_logs_and_metrics_only(handler: str) -> None:
    utilities = {name for name in loaded(handler) if name.startswith("aws_lambda_powertools.utilities.")}
    if handler in WITH_POWERTOOLS_IDEMPOTENCY:
        assert "aws_lambda_powertools.utilities.idempotency" in utilities
    else:
        assert utilities == {"aws_lambda_powertools.utilities.jmespath_utils"}  # the Logger's


@pytest.mark.parametrize("handler", HANDLERS)
def test_boto3_is_loaded_by_powertools_idempotency_alone(handler: str) -> None:
    assert ("boto3" in loaded(handler)) == (handler in WITH_POWERTOOLS_IDEMPOTENCY)


@pytest.mark.parametrize("handler", HANDLERS)
def test_what_is_loaded_of_the_layer_is_in_the_layer(handler: str) -> None:
    of_powertools = [
        file for name, file in loaded(handler).items() if name.startswith("aws_lambda_powertools")
    ]
    assert of_powertools
    assert all(Path(file).is_relative_to(LAYER) for file in of_powertools)
