"""Promises about the state machines, read from the definitions as Step Functions gets them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from statelint.linter import Linter

from stacks.ingestion_definition import ingestion_definition
from stacks.orders_definition import orders_definition
from stacks.settings import read_stage
from tests.infrastructure.synthesis import Ingestion, Orders, context, definition, ingestion, orders, resolved

SEMANTICS = ("at-most-once", "idempotent-downstream")
COUNTS = (
    "TimeoutSeconds",
    "Seconds",
    "IntervalSeconds",
    "MaxAttempts",
    "MaxDelaySeconds",
    "MaxConcurrency",
    "retentionSeconds",
)


@pytest.fixture(params=SEMANTICS)
def made(request: pytest.FixtureRequest) -> Ingestion:
    return ingestion("dev", request.param)


@pytest.fixture(params=[*SEMANTICS, "orders"])
def each(request: pytest.FixtureRequest) -> Ingestion | Orders:
    return orders() if request.param == "orders" else ingestion("dev", request.param)


def test_executions_are_standard_so_that_their_names_are_deduplicated(each: Ingestion | Orders) -> None:
    assert each.properties(each.stack.workflow.state_machine)["StateMachineType"] == "STANDARD"


def test_failures_of_executions_are_logged_without_payloads_and_all_are_traced(
    each: Ingestion | Orders,
) -> None:
    machine = each.properties(each.stack.workflow.state_machine)
    logging = machine["LoggingConfiguration"]
    assert (logging["Level"], logging["IncludeExecutionData"]) == ("ERROR", False)
    [destination] = logging["Destinations"]
    log_group = each.logical_id(each.stack.workflow.log_group)
    assert resolved(destination["CloudWatchLogsLogGroup"]["LogGroupArn"]) == f"<{log_group}.Arn>"
    assert machine["TracingConfiguration"] == {"Enabled": True}


def test_the_definition_is_in_the_template_where_reviewers_see_it(each: Ingestion | Orders) -> None:
    assert "DefinitionString" in each.properties(each.stack.workflow.state_machine)


def test_the_definition_is_valid(each: Ingestion | Orders) -> None:
    assert Linter.validate(definition(each)) == []


def test_numbers_are_numbers(each: Ingestion | Orders) -> None:
    counts = [(name, value) for name, value in _members(definition(each)) if name in COUNTS]
    assert len(counts) > 15
    assert not [(name, value) for name, value in counts if type(value) is not int]


def test_no_placeholder_is_left(each: Ingestion | Orders) -> None:
    assert "${" not in json.dumps(definition(each))


def test_no_result_holds_a_path_which_would_be_taken_literally(each: Ingestion | Orders) -> None:
    results = [value for name, value in _members(definition(each)) if name == "Result"]
    assert not [name for result in results for name, _ in _members(result) if name.endswith(".$")]


def test_an_execution_ends_in_time(made: Ingestion) -> None:
    assert definition(made)["TimeoutSeconds"] == 3600
    assert definition(orders())["TimeoutSeconds"] == 28_800


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


def test_every_task_of_an_order_waits_longer_than_its_function_may_run() -> None:
    made = orders()
    stack, states = made.stack, definition(made)["States"]
    states |= states["ProvisionItems"]["ItemProcessor"]["States"]
    for name, construct in {
        "BeginOrder": stack.begin_order,
        "ChargePayment": stack.charge_payment,
        "ProvisionItem": stack.provision_item,
        "FinishOrder": stack.finish_order,
    }.items():
        function = made.properties(construct.function)
        assert states[name]["TimeoutSeconds"] >= function["Timeout"] + 5
        assert states[name]["Parameters"]["FunctionName"] == f"<{made.logical_id(construct.function)}.Arn>"


def test_a_task_of_an_order_is_looked_at_for_longer_than_a_lost_invocation_can_hold_it() -> None:
    made = orders()
    function = made.properties(made.stack.charge_payment.function)
    margin = int(function["Environment"]["Variables"]["MARGIN_SECONDS"])
    looks = definition(made)["States"]["ChargePayment"]["Retry"][1]
    assert looks["ErrorEquals"] == ["IdempotencyAlreadyInProgressError"]
    assert looks["IntervalSeconds"] * looks["MaxAttempts"] > function["Timeout"] + margin


def test_as_many_items_of_an_order_are_provisioned_at_a_time_as_is_set() -> None:
    few = {"workflow": {"provisioning_concurrency": 20}}
    settings = read_stage("dev", context()["stages"], overrides={"orders": few}).orders
    assert orders_definition(settings)["States"]["ProvisionItems"]["MaxConcurrency"] == 20
    assert definition(orders())["States"]["ProvisionItems"]["MaxConcurrency"] == 10


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
