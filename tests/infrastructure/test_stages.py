"""What differs between stages, and what must not."""

import pytest

from tests.infrastructure.synthesis import synthesized


@pytest.mark.parametrize(("stage", "protected"), [("dev", False), ("prod", True), ("sandbox", False)])
def test_only_the_table_of_prod_is_protected_from_deletion(stage: str, protected: bool) -> None:
    made = synthesized(stage)
    [replica] = made.properties(made.stack.ledger.table)["Replicas"]
    assert replica["DeletionProtectionEnabled"] is protected


@pytest.mark.parametrize(("stage", "fate"), [("dev", "Delete"), ("prod", "Retain"), ("sandbox", "Delete")])
def test_what_holds_data_outlives_the_stack_of_prod_alone(stage: str, fate: str) -> None:
    made = synthesized(stage)
    stack = made.stack
    holders = (stack.ledger.table, stack.work_queue.queue, stack.work_queue.dead_letter_queue)
    assert [made.resource(holder)["DeletionPolicy"] for holder in holders] == [fate] * 3


@pytest.mark.parametrize("stage", ["dev", "prod", "sandbox"])
def test_every_log_group_has_an_end(stage: str) -> None:
    groups = dict(synthesized(stage).of_type("AWS::Logs::LogGroup"))
    assert len(groups) == 6
    assert all(group["RetentionInDays"] > 0 for group in groups.values())


def test_prod_has_the_resources_of_the_sandbox() -> None:
    """Nothing is proven in the sandbox that is not deployed to prod, and the other way round."""
    assert _resources("prod") == _resources("sandbox")


def test_only_the_work_queue_has_a_name_of_ours() -> None:
    made = synthesized()
    named = [
        (resource["Type"], name)
        for resource in made.template["Resources"].values()
        for name in resource.get("Properties", {})
        if name.endswith("Name") and name not in {"PolicyName", "FunctionName", "MetricName"}
    ]
    assert named == [("AWS::SQS::Queue", "QueueName")]


@pytest.mark.parametrize(("stage", "bootstrapped"), [("dev", True), ("prod", True), ("sandbox", False)])
def test_the_sandbox_needs_no_bootstrap(stage: str, bootstrapped: bool) -> None:
    assert ("BootstrapVersion" in synthesized(stage).template.get("Parameters", {})) is bootstrapped


def test_operators_and_the_sandbox_find_everything_in_the_outputs() -> None:
    assert set(synthesized().template["Outputs"]) == {
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


def _resources(stage: str) -> list[str]:
    return sorted(resource["Type"] for resource in synthesized(stage).template["Resources"].values())
