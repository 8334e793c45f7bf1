"""Promises about the state machine, read from the definition as Step Functions gets it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from statelint.linter import Linter

from stacks.ingestion_definition import ingestion_definition
from stacks.settings import read_stage
from tests.infrastructure.synthesis import Ingestion, context, definition, ingestion, resolved

SEMANTICS = ("at-most-once", "idempotent-downstream")
COUNTS = (
    "TimeoutSeconds",
    "Seconds",
    "IntervalSeconds",
    "MaxAttempts",
    "MaxDelaySeconds",
    "retentionSeconds",
)


@pytest.fixture(params=SEMANTICS)
def made(request: pytest.FixtureRequest) -> Ingestion:
    return ingestion("dev", request.param)


def test_executions_are_standard_so_that_their_names_are_deduplicated(made: Ingestion) -> None:
    assert made.properties(made.stack.workflow.state_machine)["StateMachineType"] == "STANDARD"


def test_executions_are_logged_without_payloads_and_traced(made: Ingestion) -> None:
    machine = made.properties(made.stack.workflow.state_machine)
    logging = machine["LoggingConfiguration"]
    assert (logging["Level"], logging["IncludeExecutionData"]) == ("ALL", False)
    [destination] = logging["Destinations"]
    log_group = made.logical_id(made.stack.workflow.log_group)
    assert resolved(destination["CloudWatchLogsLogGroup"]["LogGroupArn"]) == f"<{log_group}.Arn>"
    assert machine["TracingConfiguration"] == {"Enabled": True}


def test_the_definition_is_in_the_template_where_reviewers_see_it(made: Ingestion) -> None:
    assert "DefinitionString" in made.properties(made.stack.workflow.state_machine)


def test_the_definition_is_valid(made: Ingestion) -> None:
    assert Linter.validate(definition(made)) == []


def test_numbers_are_numbers(made: Ingestion) -> None:
    counts = [(name, value) for name, value in _members(definition(made)) if name in COUNTS]
    assert len(counts) > 15
    assert not [(name, value) for name, value in counts if type(value) is not int]


def test_no_placeholder_is_left(made: Ingestion) -> None:
    assert "${" not in json.dumps(definition(made))


def test_no_result_holds_a_path_which_would_be_taken_literally(made: Ingestion) -> None:
    results = [value for name, value in _members(definition(made)) if name == "Result"]
    assert not [name for result in results for name, _ in _members(result) if name.endswith(".$")]


def test_an_execution_ends_in_time(made: Ingestion) -> None:
    assert definition(made)["TimeoutSeconds"] == 3600


def test_every_task_waits_longer_than_its_function_may_run(made: Ingestion) -> None:
    stack, states = made.stack, definition(made)["States"]
    for name, construct in {
        "IdempotencyGuard": stack.idempotency_guard,
        "SideEffect": stack.side_effect,
        "RecordFailure": stack.record_failure,
    }.items():
        function = made.properties(construct.function)
        assert states[name]["TimeoutSeconds"] >= function["Timeout"] + 5
        assert states[name]["Parameters"]["FunctionName"] == f"<{made.logical_id(construct.function)}.Arn>"
    assert states["DeadLetter"]["TimeoutSeconds"] == 20


@pytest.mark.parametrize("longest", ["idempotency_guard", "side_effect", "record_failure"])
def test_the_failure_branch_waits_until_no_function_still_runs(longest: str) -> None:
    """Until the longest of the three has ended, after a cold start of 10 s, and the clocks' margin on top."""
    slower = {"functions": {longest: {"timeout_seconds": 70}}}
    settings = read_stage("dev", context()["stages"], overrides={"ingestion": slower}).ingestion
    assert ingestion_definition(settings)["States"]["LetInvocationsEnd"]["Seconds"] == 10 + 70 + 60
    assert settings.settle_seconds == 10 + 70 + 60


def test_every_retry_is_jittered_and_bounded(made: Ingestion) -> None:
    retriers = [
        retrier
        for state in definition(made)["States"].values()
        for retrier in state.get("Retry", ())
        if retrier.get("MaxAttempts") != 0
    ]
    assert len(retriers) == 4
    for retrier in retriers:
        assert retrier["JitterStrategy"] == "FULL"
        assert retrier["MaxDelaySeconds"] == 60


def test_an_effect_that_may_have_happened_is_retried_only_where_the_downstream_allows_it() -> None:
    def retried(semantics: str) -> list[list[str]]:
        retriers = definition(ingestion("dev", semantics))["States"]["SideEffect"]["Retry"]
        return [retrier["ErrorEquals"] for retrier in retriers if retrier["MaxAttempts"] > 0]

    assert retried("at-most-once") == [["NotApplied", "Lambda.TooManyRequestsException"]]
    assert retried("idempotent-downstream") == [["States.ALL"]]


def test_dead_letters_go_to_the_dead_letter_queue(made: Ingestion) -> None:
    queue = made.logical_id(made.stack.work_queue.dead_letter_queue)
    assert definition(made)["States"]["DeadLetter"]["Parameters"]["QueueUrl"] == f"<{queue}>"


def _members(node: Any) -> Iterator[tuple[str, Any]]:
    """Every name and value, at any depth."""
    if isinstance(node, dict):
        yield from node.items()
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _members(child)
