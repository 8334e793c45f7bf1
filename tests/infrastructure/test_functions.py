"""Promises about the functions."""

import importlib
import re
from collections.abc import Mapping
from typing import Any

import pytest

from stacks.constructs.handler_function import HandlerFunction
from tests.infrastructure.synthesis import ROOT, Synthesized, synthesized

NAMES = ("Starter", "IdempotencyGuard", "SideEffect", "RecordFailure", "Reconciler")

FOR_EVERY_FUNCTION = {
    "SDK_CONNECT_TIMEOUT": "1",
    "SDK_READ_TIMEOUT": "2",
    "SDK_ATTEMPTS": "3",
    "SDK_CALL_SECONDS": "12",
    "POWERTOOLS_SERVICE_NAME": "ingestion",
    "POWERTOOLS_METRICS_NAMESPACE": "IdempotentEvents",
    "POWERTOOLS_LOG_LEVEL": "INFO",
}


@pytest.fixture
def made() -> Synthesized:
    return synthesized()


def function(made: Synthesized, name: str) -> Mapping[str, Any]:
    construct = made.stack.node.find_child(name)
    assert isinstance(construct, HandlerFunction)
    return made.properties(construct.function)


def variables(made: Synthesized, name: str) -> dict[str, Any]:
    """Of one function, without those that all have."""
    given = function(made, name)["Environment"]["Variables"]
    assert given.items() >= FOR_EVERY_FUNCTION.items()
    return {key: value for key, value in given.items() if key not in FOR_EVERY_FUNCTION}


def test_there_are_these_functions_and_no_other(made: Synthesized) -> None:
    assert len(dict(made.of_type("AWS::Lambda::Function"))) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_runs_on_the_newest_runtime_and_arm(made: Synthesized, name: str) -> None:
    assert function(made, name)["Runtime"] == "python3.14"
    assert function(made, name)["Architectures"] == ["arm64"]


@pytest.mark.parametrize("name", NAMES)
def test_each_is_named_after_its_module(made: Synthesized, name: str) -> None:
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    assert function(made, name)["Handler"] == f"ingestion.{module}.handler"
    assert callable(importlib.import_module(f"ingestion.{module}").handler)


@pytest.mark.parametrize("name", NAMES)
def test_each_logs_json_to_its_own_group_and_is_traced(made: Synthesized, name: str) -> None:
    construct = made.stack.node.find_child(name)
    assert isinstance(construct, HandlerFunction)
    assert function(made, name)["LoggingConfig"] == {
        "LogFormat": "JSON",
        "LogGroup": {"Ref": made.logical_id(construct.log_group)},
    }
    assert function(made, name)["TracingConfig"] == {"Mode": "Active"}


@pytest.mark.parametrize("name", NAMES)
def test_no_call_of_a_function_to_aws_waits_for_ever(made: Synthesized, name: str) -> None:
    assert function(made, name)["Environment"]["Variables"].items() >= FOR_EVERY_FUNCTION.items()


def test_the_starter_knows_how_to_find_the_key_of_an_event(made: Synthesized) -> None:
    assert variables(made, "Starter") == {
        "STATE_MACHINE_ARN": {"Ref": made.logical_id(made.stack.workflow.state_machine)},
        "DLQ_URL": {"Ref": made.logical_id(made.stack.work_queue.dead_letter_queue)},
        "NAMESPACE": "ingestion",
        "EVENT_SOURCE": "event",
        "EVENT_KEY": "eventId",
        "FINGERPRINT": "",
        "MISSING_KEY": "dead-letter",
        "STARTER_CONCURRENCY": "10",
    }


def test_the_guard_knows_how_to_judge_a_claim(made: Synthesized) -> None:
    assert variables(made, "IdempotencyGuard") == {
        **_ledger(made),
        "LEASE_SECONDS": "5400",
        "RETRY_FAILED": "false",
    }


def test_the_side_effect_knows_its_downstream_and_its_deadlines(made: Synthesized) -> None:
    assert variables(made, "SideEffect") == {
        **_ledger(made),
        "LEASE_SECONDS": "5400",
        "RETENTION_SECONDS": str(40 * 86_400),
        "TASK_TIMEOUT_SECONDS": "65",
        "EFFECT_URL": "https://effects.example.com/events",
        "EFFECT_DEADLINE_SECONDS": "20",
        "RES_OPTIONS": "timeout:1 attempts:2",
    }


def test_record_failure_knows_how_long_to_keep_a_record(made: Synthesized) -> None:
    assert variables(made, "RecordFailure") == {**_ledger(made), "RETENTION_SECONDS": str(40 * 86_400)}


def test_the_reconciler_knows_when_nothing_of_an_execution_still_runs(made: Synthesized) -> None:
    assert variables(made, "Reconciler") == {
        **_ledger(made),
        "STATE_MACHINE_ARN": {"Ref": made.logical_id(made.stack.workflow.state_machine)},
        "DLQ_URL": {"Ref": made.logical_id(made.stack.work_queue.dead_letter_queue)},
        "MACHINE_TIMEOUT_SECONDS": "3600",
        "SETTLE_SECONDS": "130",
    }


def test_the_handlers_read_no_variable_that_nobody_sets(made: Synthesized) -> None:
    read = {
        name
        for module in (ROOT / "lambdas").rglob("*.py")
        for name in re.findall(r'(?:text|number|flag|environ\.get)\("([A-Z_]+)"', module.read_text("utf-8"))
    }
    given = {key for name in NAMES for key in function(made, name)["Environment"]["Variables"]}
    assert read <= given
    assert given - read <= {
        "POWERTOOLS_SERVICE_NAME",
        "POWERTOOLS_METRICS_NAMESPACE",
        "POWERTOOLS_LOG_LEVEL",
        "RES_OPTIONS",
    }


def _ledger(made: Synthesized) -> dict[str, Any]:
    return {
        "LEDGER_TABLE": {"Ref": made.logical_id(made.stack.ledger.table)},
        "SEMANTICS": "at-most-once",
        "MARGIN_SECONDS": "60",
    }
