"""What every definition has to keep, read from it as it is deployed at each stage."""

import importlib
import json
import re
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from aws_lambda_powertools.utilities.idempotency import exceptions as powertools
from statelint.linter import Linter

from idempotency import errors
from orders import begin_order
from powertools_fencing import errors as fencing
from stacks.settings import Semantics
from tests.statemachines.definition import (
    FUNCTIONS,
    ORDERS_FUNCTIONS,
    members,
    orders_settings,
    resolved,
    resolved_orders,
    stage_settings,
    tasks,
)

SOURCES = Path(__file__).parents[2] / "statemachines"
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/dead-letters"
STAGES = ("dev", "prod", "sandbox")
NUMBERS = {"TimeoutSeconds", "Seconds", "IntervalSeconds", "MaxAttempts", "MaxDelaySeconds", "MaxConcurrency"}
NUMBERS_OF_PAYLOADS = {"retentionSeconds"}

# Where the errors are that our functions raise.
RAISED = (errors, fencing, powertools, begin_order)

Node = dict[str, Any]


def _ingestion(stage: str, semantics: str) -> Node:
    return resolved(stage_settings(stage, semantics=semantics), dead_letter_queue=QUEUE)


def _orders(stage: str) -> Node:
    return resolved_orders(orders_settings(stage))


MADE: dict[str, Callable[[], Node]] = {
    **{
        f"ingestion-{stage}-{semantics}": partial(_ingestion, stage, semantics)
        for stage, semantics in product(STAGES, get_args(Semantics))
    },
    **{f"orders-{stage}": partial(_orders, stage) for stage in STAGES},
}


@pytest.fixture(params=MADE)
def definition(request: pytest.FixtureRequest) -> Node:
    return MADE[request.param]()


def test_statelint_finds_nothing(definition: Node) -> None:
    assert Linter.validate(definition) == []


def test_no_placeholder_is_left(definition: Node) -> None:
    assert "${" not in json.dumps(definition)


def test_numbers_are_numbers(definition: Node) -> None:
    found = [(name, value) for name, value in members(definition) if name in NUMBERS | NUMBERS_OF_PAYLOADS]

    assert {name for name, _ in found} >= {
        "TimeoutSeconds",
        "IntervalSeconds",
        "MaxAttempts",
        "MaxDelaySeconds",
    }
    assert [each for each in found if type(each[1]) is not int] == []


def test_no_path_stands_where_it_would_be_taken_literally(definition: Node) -> None:
    literals = [value for name, value in members(definition) if name == "Result"]

    assert [name for literal in literals for name, _ in members(literal) if name.endswith(".$")] == []


def test_an_execution_and_every_task_of_it_end(definition: Node) -> None:
    assert definition["TimeoutSeconds"] > max(task["TimeoutSeconds"] for task in tasks(definition).values())


def test_every_task_retries_whatever_else_happens_with_jitter_and_a_longest_delay(definition: Node) -> None:
    for name, task in tasks(definition).items():
        retriers = [retrier for retrier in task["Retry"] if retrier["MaxAttempts"] > 0]
        assert retriers, name
        for retrier in retriers:
            if retrier.get("BackoffRate") == 1.0:
                continue  # a look at what another invocation holds: they need not spread
            assert retrier["JitterStrategy"] == "FULL", name
            assert retrier["MaxDelaySeconds"] > retrier["IntervalSeconds"], name


def test_every_error_named_is_amazons_or_one_that_our_functions_raise(definition: Node) -> None:
    named = {
        error
        for task in tasks(definition).values()
        for rule in (*task["Retry"], *task.get("Catch", ()))
        for error in rule["ErrorEquals"]
    }
    ours = {name for name in named if not name.startswith(("States.", "Lambda."))}

    assert "Rejected" in ours
    found = {name: getattr(module, name) for name in ours for module in RAISED if hasattr(module, name)}
    assert found.keys() == ours
    assert all(issubclass(error, Exception) for error in found.values())


@pytest.mark.parametrize(("workload", "functions"), [("ingestion", FUNCTIONS), ("orders", ORDERS_FUNCTIONS)])
def test_states_functions_modules_and_placeholders_share_their_names(
    workload: str, functions: tuple[str, ...]
) -> None:
    source = json.loads((SOURCES / f"{workload}.asl.json").read_text(encoding="utf-8"))
    called = {name: task["Parameters"].get("FunctionName") for name, task in tasks(source).items()}

    assert {name: arn for name, arn in called.items() if arn} == {
        name: f"${{{name}Arn}}" for name in functions
    }
    deployed = {
        name: task["Parameters"].get("FunctionName", "") for name, task in _deployed(workload).items()
    }
    assert {name: arn.rsplit(":", 1)[1] for name, arn in deployed.items() if arn} == {
        name: name for name in functions
    }
    for name in functions:
        module = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        assert callable(importlib.import_module(f"{workload}.{module}").handler)


def _deployed(workload: str) -> dict[str, Node]:
    return tasks(next(make() for name, make in MADE.items() if name.startswith(workload)))
