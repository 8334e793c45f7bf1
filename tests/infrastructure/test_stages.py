"""What differs between stages, and what must not."""

from collections.abc import Callable

import pytest

from tests.infrastructure.synthesis import (
    QUEUED,
    WORKLOADS,
    Queued,
    Workload,
    charges,
    ingestion,
    orders,
    registrations,
)

Make = Callable[..., Workload]
MakeQueued = Callable[..., Queued]


@pytest.fixture(params=WORKLOADS)
def make(request: pytest.FixtureRequest) -> Make:
    return WORKLOADS[request.param]


@pytest.fixture(params=QUEUED)
def make_queued(request: pytest.FixtureRequest) -> MakeQueued:
    return QUEUED[request.param]


@pytest.mark.parametrize(("stage", "fate"), [("dev", "Delete"), ("prod", "Retain"), ("sandbox", "Delete")])
def test_what_holds_data_outlives_the_stack_of_prod_alone(
    make_queued: MakeQueued, stage: str, fate: str
) -> None:
    made = make_queued(stage)
    stack = made.stack
    holders = (stack.ledger.table, stack.work_queue.queue, stack.work_queue.dead_letter_queue)
    assert [made.resource(holder)["DeletionPolicy"] for holder in holders] == [fate] * 3


@pytest.mark.parametrize(("stage", "fate"), [("dev", "Delete"), ("prod", "Retain"), ("sandbox", "Delete")])
def test_documents_and_dead_letters_of_registrations_outlive_the_stack_of_prod_alone(
    stage: str, fate: str
) -> None:
    made = registrations(stage)
    holders = (made.stack.source.bucket, made.stack.dead_letter_queue)
    assert [made.resource(holder)["DeletionPolicy"] for holder in holders] == [fate] * 2


@pytest.mark.parametrize(("stage", "fate"), [("dev", "Delete"), ("prod", "Retain"), ("sandbox", "Delete")])
def test_orders_and_what_their_tasks_did_outlive_the_stack_of_prod_alone(stage: str, fate: str) -> None:
    made = orders(stage)
    holders = (made.stack.orders.table, made.stack.tasks.table)
    assert [made.resource(holder)["DeletionPolicy"] for holder in holders] == [fate] * 2


@pytest.mark.parametrize("stage", ["dev", "prod", "sandbox"])
def test_every_log_group_has_an_end(make: Make, stage: str) -> None:
    groups = dict(make(stage).of_type("AWS::Logs::LogGroup"))
    assert groups
    assert all(group["RetentionInDays"] > 0 for group in groups.values())


def test_prod_has_the_resources_of_the_sandbox(make: Make) -> None:
    """Nothing is proven in the sandbox that is not deployed to prod, and the other way round."""
    assert _resources(make("prod")) == _resources(make("sandbox"))


@pytest.mark.parametrize("workload", WORKLOADS)
def test_only_the_work_queue_and_alarms_have_names_of_ours(workload: str) -> None:
    made = WORKLOADS[workload]()
    named = [
        (resource["Type"], name)
        for resource in made.template["Resources"].values()
        for name in resource.get("Properties", {})
        if name.endswith("Name")
        and name not in {"PolicyName", "FunctionName", "MetricName"}
        # An API's is a label, and that of its stage is part of its address.
        and not resource["Type"].startswith("AWS::ApiGateway")
        and (resource["Type"], name) != ("AWS::CloudWatch::Alarm", "AlarmName")
    ]
    assert named == [("AWS::SQS::Queue", "QueueName")] * (workload in QUEUED)


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
    assert set(registrations().template["Outputs"]) == {
        "BucketName",
        "DocumentKey",
        "DeadLetterQueueUrl",
        "ProcessorName",
        "SweeperName",
        "ParameterPrefix",
        "EventSource",
    }
    assert set(orders().template["Outputs"]) == {
        "ApiUrl",
        "ApiId",
        "OrdersTableName",
        "TasksTableName",
        "StateMachineArn",
        "AcceptOrderName",
        "OrderStatusName",
        "BeginOrderName",
        "ChargePaymentName",
        "ProvisionItemName",
        "FinishOrderName",
        "ReconcilerName",
    }


def _resources(made: Workload) -> list[str]:
    return sorted(resource["Type"] for resource in made.template["Resources"].values())
