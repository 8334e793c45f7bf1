"""What the definition itself has to keep, read from it as it is deployed at each stage."""

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from statelint.linter import Linter

from idempotency import errors
from idempotency.model import Semantics, Verdict
from ingestion import record_failure
from ingestion.idempotency_guard import DEAD_LETTERED
from stacks.settings import IngestionSettings
from tests.statemachines.definition import FUNCTIONS, resolved, stage_settings

SOURCE = Path(__file__).parents[2] / "statemachines" / "ingestion.asl.json"
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/dead-letters"
NUMBERS = {
    "TimeoutSeconds",
    "Seconds",
    "IntervalSeconds",
    "MaxAttempts",
    "MaxDelaySeconds",
    "retentionSeconds",
}

SKIPPING = {Verdict.DONE, Verdict.IN_PROGRESS}
CLAIMING = {Verdict.ACQUIRED, Verdict.STILL_MINE}

Node = dict[str, Any]


@pytest.fixture(params=["dev", "prod", "sandbox"])
def settings(request: pytest.FixtureRequest, semantics: Semantics) -> IngestionSettings:
    return stage_settings(request.param, semantics=semantics.value)


@pytest.fixture
def definition(settings: IngestionSettings) -> Node:
    return resolved(settings, dead_letter_queue=QUEUE)


@pytest.fixture
def states(definition: Node) -> dict[str, Node]:
    found: dict[str, Node] = definition["States"]
    return found


@pytest.fixture
def tasks(states: dict[str, Node]) -> dict[str, Node]:
    return {name: state for name, state in states.items() if state["Type"] == "Task"}


def test_statelint_finds_nothing(definition: Node) -> None:
    assert Linter.validate(definition) == []


def test_no_placeholder_is_left(definition: Node) -> None:
    assert "${" not in json.dumps(definition)


def test_numbers_are_numbers(definition: Node) -> None:
    found = [(name, value) for name, value in members(definition) if name in NUMBERS]

    assert {name for name, _ in found} == NUMBERS
    assert [each for each in found if type(each[1]) is not int] == []


def test_no_path_stands_where_it_would_be_taken_literally(definition: Node) -> None:
    literals = [value for name, value in members(definition) if name == "Result"]

    assert [name for literal in literals for name, _ in members(literal) if name.endswith(".$")] == []


def test_every_task_has_a_timeout_longer_than_its_functions(
    tasks: dict[str, Node], settings: IngestionSettings
) -> None:
    functions = settings.functions
    assert {name: task["TimeoutSeconds"] for name, task in tasks.items()} == {
        "IdempotencyGuard": functions.idempotency_guard.timeout_seconds + 5,
        "SideEffect": functions.side_effect.timeout_seconds + 5,
        "RecordFailure": functions.record_failure.timeout_seconds + 5,
        "DeadLetter": settings.workflow.dead_letter_timeout_seconds,
    }


def test_every_task_retries_with_jitter_and_a_longest_delay(tasks: dict[str, Node]) -> None:
    for name, task in tasks.items():
        retriers = [retrier for retrier in task["Retry"] if retrier["MaxAttempts"] > 0]
        assert retriers, name
        for retrier in retriers:
            assert retrier["JitterStrategy"] == "FULL", name
            assert retrier["MaxDelaySeconds"] > retrier["IntervalSeconds"], name


def test_guard_recorder_and_dead_letter_retry_whatever_happens(tasks: dict[str, Node]) -> None:
    retried = {name: [retrier["ErrorEquals"] for retrier in task["Retry"]] for name, task in tasks.items()}

    assert {name: retried[name] for name in ("IdempotencyGuard", "RecordFailure", "DeadLetter")} == {
        name: [["States.ALL"]] for name in ("IdempotencyGuard", "RecordFailure", "DeadLetter")
    }


def test_the_effect_is_retried_as_its_semantics_allow(
    states: dict[str, Node], settings: IngestionSettings
) -> None:
    retried = [(each["ErrorEquals"], each["MaxAttempts"] > 0) for each in states["SideEffect"]["Retry"]]

    allowed = {
        "at-most-once": [(["NotApplied", "Lambda.TooManyRequestsException"], True)],
        "idempotent-downstream": [(["Rejected", "LeaseLost"], False), (["States.ALL"], True)],
    }
    assert retried == allowed[settings.semantics]


def test_every_error_named_is_amazons_or_one_that_our_functions_raise(tasks: dict[str, Node]) -> None:
    named = {
        error
        for task in tasks.values()
        for rule in (*task["Retry"], *task.get("Catch", ()))
        for error in rule["ErrorEquals"]
    }
    ours = {name for name in named if not name.startswith(("States.", "Lambda."))}

    assert ours >= {"Rejected", "NotApplied"}
    raised = errors.EffectError, errors.IdempotencyError
    assert [name for name in ours if not issubclass(getattr(errors, name), raised)] == []


def test_nothing_leads_around_the_recorder_or_the_dead_letter(states: dict[str, Node]) -> None:
    assert {name for name, state in states.items() if "Catch" in state} == {"IdempotencyGuard", "SideEffect"}


def test_every_catch_keeps_the_delivery(tasks: dict[str, Node]) -> None:
    assert {catch["ResultPath"] for task in tasks.values() for catch in task.get("Catch", ())} == {"$.error"}


def test_every_verdict_of_a_claim_has_its_way_and_what_has_no_name_is_recorded(
    states: dict[str, Node],
) -> None:
    proceeding, skipping, dead_lettering = states["ShouldProceed"]["Choices"]

    assert set(Verdict) <= CLAIMING | SKIPPING | DEAD_LETTERED
    assert proceeding == {"Variable": "$.outcome.proceed", "BooleanEquals": True, "Next": "SideEffect"}
    assert (words(skipping), skipping["Next"]) == (SKIPPING, "SkipDuplicate")
    assert (words(dead_lettering), dead_lettering["Next"]) == (set(DEAD_LETTERED), "DeadLetter")
    assert states["ShouldProceed"]["Default"] == "RecordFailure"


def test_the_reasons_that_end_an_execution_are_the_recorders(states: dict[str, Node]) -> None:
    [ending] = states["ShouldDeadLetter"]["Choices"]

    assert (words(ending), ending["Next"]) == (
        {record_failure.DONE, record_failure.CLAIM_LOST},
        "AlreadySettled",
    )
    assert states["ShouldDeadLetter"]["Default"] == "DeadLetter"


def test_the_wait_outlasts_every_invocation_that_the_workflow_makes(
    states: dict[str, Node], settings: IngestionSettings
) -> None:
    functions = settings.functions
    longest = max(
        functions.idempotency_guard.timeout_seconds,
        functions.side_effect.timeout_seconds,
        functions.record_failure.timeout_seconds,
    )
    assert states["LetInvocationsEnd"]["Seconds"] >= longest + settings.margin_seconds


def test_states_functions_and_modules_share_their_names(tasks: dict[str, Node]) -> None:
    called = {name: task["Parameters"].get("FunctionName", "") for name, task in tasks.items()}

    assert {name: arn.rsplit(":", 1)[1] for name, arn in called.items() if arn} == {
        name: name for name in FUNCTIONS
    }
    for name in FUNCTIONS:
        assert callable(importlib.import_module(f"ingestion.{snake_case(name)}").handler)


def test_functions_are_named_by_a_placeholder_of_their_own_name() -> None:
    source = json.loads(SOURCE.read_text(encoding="utf-8"))["States"]

    assert {name: source[name]["Parameters"]["FunctionName"] for name in FUNCTIONS} == {
        name: f"${{{name}Arn}}" for name in FUNCTIONS
    }


def members(node: Any) -> Iterator[tuple[str, Any]]:
    """Every name with its value, at any depth."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield name, value
            yield from members(value)
    elif isinstance(node, list):
        for value in node:
            yield from members(value)


def words(choice: Node) -> set[str]:
    return {each["StringEquals"] for each in choice["Or"] if each["Variable"] == "$.outcome.reason"}


def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
