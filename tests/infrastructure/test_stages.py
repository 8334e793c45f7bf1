"""What differs between stages, and what must not."""

from collections.abc import Callable

import pytest

from tests.infrastructure.synthesis import WORKLOADS, Workload, charges, ingestion

Make = Callable[..., Workload]


@pytest.fixture(params=WORKLOADS)
def make(request: pytest.FixtureRequest) -> Make:
    return WORKLOADS[request.param]


@pytest.mark.parametrize(("stage", "protected"), [("dev", False), ("prod", True), ("sandbox", False)])
def test_only_the_table_of_prod_is_protected_from_deletion(make: Make, stage: str, protected: bool) -> None:
    made = make(stage)
    [replica] = made.properties(made.stack.ledger.table)["Replicas"]
    assert replica["DeletionProtectionEnabled"] is protected


@pytest.mark.parametrize(("stage", "fate"), [("dev", "Delete"), ("prod", "Retain"), ("sandbox", "Delete")])
def test_what_holds_data_outlives_the_stack_of_prod_alone(make: Make, stage: str, fate: str) -> None:
    made = make(stage)
    stack = made.stack
    holders = (stack.ledger.table, stack.work_queue.queue, stack.work_queue.dead_letter_queue)
    assert [made.resource(holder)["DeletionPolicy"] for holder in holders] == [fate] * 3


@pytest.mark.parametrize("stage", ["dev", "prod", "sandbox"])
def test_every_log_group_has_an_end(make: Make, stage: str) -> None:
    groups = dict(make(stage).of_type("AWS::Logs::LogGroup"))
    assert groups
    assert all(group["RetentionInDays"] > 0 for group in groups.values())


def test_prod_has_the_resources_of_the_sandbox(make: Make) -> None:
    """Nothing is proven in the sandbox that is not deployed to prod, and the other way round."""
    assert _resources(make("prod")) == _resources(make("sandbox"))


def test_only_the_work_queue_has_a_name_of_ours(make: Make) -> None:
    made = make()
    named = [
        (resource["Type"], name)
        for resource in made.template["Resources"].values()
        for name in resource.get("Properties", {})
        if name.endswith("Name") and name not in {"PolicyName", "FunctionName", "MetricName"}
    ]
    assert named == [("AWS::SQS::Queue", "QueueName")]


@pytest.mark.parametrize(("stage", "bootstrapped"), [("dev", True), ("prod", True), ("sandbox", False)])
def test_the_sandbox_needs_no_bootstrap(make: Make, stage: str, bootstrapped: bool) -> None:
    assert ("BootstrapVersion" in make(stage).template.get("Parameters", {})) is bootstrapped


def test_operators_and_the_sandbox_find_everything_in_the_outputs() -> None:
    assert set(ingestion().template["Outputs"]) == {
        "QueueUrl",
        "DeadLetterQueueUrl",
        "TableName",
        "StateMachineArn",
        "StarterName",
        "IdempotencyGuardName",
        "SideEffectName",
        "RecordFailureName",
        "ReconcilerName",
    }
    assert set(charges().template["Outputs"]) == {
        "QueueUrl",
        "DeadLetterQueueUrl",
        "TableName",
        "ConsumerName",
    }


def _resources(made: Workload) -> list[str]:
    return sorted(resource["Type"] for resource in made.template["Resources"].values())
