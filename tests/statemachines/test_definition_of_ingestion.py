"""What the ingestion definition has to keep, read from it as it is deployed at each stage."""

import pytest

from idempotency.model import Semantics, Verdict
from ingestion import record_failure
from ingestion.idempotency_guard import DEAD_LETTERED
from stacks.settings import IngestionSettings
from tests.statemachines.definition import resolved, stage_settings
from tests.statemachines.test_definition import QUEUE, Node

SKIPPING = {Verdict.DONE, Verdict.IN_PROGRESS}
CLAIMING = {Verdict.ACQUIRED, Verdict.STILL_MINE}


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


def words(choice: Node) -> set[str]:
    return {each["StringEquals"] for each in choice["Or"] if each["Variable"] == "$.outcome.reason"}
