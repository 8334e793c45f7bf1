"""Who may do what: exactly this."""

from collections.abc import Iterator

import pytest
from aws_cdk import aws_iam as iam

from tests.infrastructure.synthesis import (
    WORKLOADS,
    Charges,
    Ingestion,
    Orders,
    Registrations,
    Workload,
    charges,
    ingestion,
    orders,
    registrations,
    resolved,
)

LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
TRACES = {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}

# X-Ray and log delivery know no resources.
WITHOUT_RESOURCE = TRACES | {
    "xray:GetSamplingRules",
    "xray:GetSamplingTargets",
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
}

PARAMETERS = "arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter/idempotency/dev-registrations"

Granted = dict[str, set[str]]

RECEIVING = {"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}


@pytest.fixture
def made() -> Ingestion:
    return ingestion()


@pytest.fixture(params=["ingestion", "orders"])
def on_a_workflow(request: pytest.FixtureRequest) -> Ingestion | Orders:
    return ingestion() if request.param == "ingestion" else orders()


@pytest.fixture(params=WORKLOADS)
def each(request: pytest.FixtureRequest) -> Workload:
    return WORKLOADS[request.param]()


def granted(made: Workload, role: iam.IRole) -> Granted:
    """Actions by resource."""
    found: Granted = {}
    for statement in _statements(made, role):
        assert statement["Effect"] == "Allow"
        for resource in _listed(statement["Resource"]):
            found.setdefault(resolved(resource), set()).update(_listed(statement["Action"]))
    return found


def test_the_starter_starts_executions_and_dead_letters(made: Ingestion) -> None:
    stack = made.stack
    assert granted(made, stack.starter.role) == {
        **_every_function(made, stack.starter.log_group),
        f"<{made.logical_id(stack.workflow.state_machine)}>": {"states:StartExecution"},
        _arn(made, stack.work_queue.dead_letter_queue): {"sqs:SendMessage"},
        _arn(made, stack.work_queue.queue): RECEIVING,
    }


def test_the_guard_and_the_side_effect_update_records(made: Ingestion) -> None:
    for function in (made.stack.idempotency_guard, made.stack.side_effect):
        assert granted(made, function.role) == {
            **_every_function(made, function.log_group),
            _arn(made, made.stack.ledger.table): {"dynamodb:UpdateItem"},
        }


def test_record_failure_reads_and_updates_records(made: Ingestion) -> None:
    function = made.stack.record_failure
    assert granted(made, function.role) == {
        **_every_function(made, function.log_group),
        _arn(made, made.stack.ledger.table): {"dynamodb:GetItem", "dynamodb:UpdateItem"},
    }


def test_the_reconciler_reads_executions_and_settles_their_events(made: Ingestion) -> None:
    stack = made.stack
    machine = made.logical_id(stack.workflow.state_machine)
    executions = f"arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:<{machine}.Name>:*"
    assert granted(made, stack.reconciler.role) == {
        **_every_function(made, stack.reconciler.log_group),
        f"<{machine}>": {"states:ListExecutions"},
        executions: {"states:DescribeExecution"},
        _arn(made, stack.ledger.table): {
            "dynamodb:BatchGetItem",
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
        },
        _arn(made, stack.work_queue.dead_letter_queue): {"sqs:SendMessage"},
    }


def test_the_workflow_invokes_its_three_functions_and_dead_letters(made: Ingestion) -> None:
    stack = made.stack
    allowed = granted(made, stack.workflow.state_machine.role)
    assert allowed.pop("*") <= WITHOUT_RESOURCE
    assert allowed == {
        _arn(made, stack.idempotency_guard.function): {"lambda:InvokeFunction"},
        _arn(made, stack.side_effect.function): {"lambda:InvokeFunction"},
        _arn(made, stack.record_failure.function): {"lambda:InvokeFunction"},
        _arn(made, stack.work_queue.dead_letter_queue): {"sqs:SendMessage"},
    }


def test_the_schedule_invokes_the_reconciler_and_dead_letters(on_a_workflow: Ingestion | Orders) -> None:
    made, stack = on_a_workflow, on_a_workflow.stack
    assert granted(made, stack.reconciling.role) == {
        _arn(made, stack.reconciler.function): {"lambda:InvokeFunction"},
        _arn(made, stack.reconciling.dead_letter_queue): {"sqs:SendMessage"},
    }


def test_the_consumer_updates_records_and_dead_letters() -> None:
    made: Charges = charges()
    stack = made.stack
    assert granted(made, stack.consumer.role) == {
        **_every_function(made, stack.consumer.log_group),
        _arn(made, stack.ledger.table): {"dynamodb:UpdateItem"},
        _arn(made, stack.work_queue.dead_letter_queue): {"sqs:SendMessage"},
        _arn(made, stack.work_queue.queue): RECEIVING | {"sqs:ChangeMessageVisibility"},
    }
    assert len(dict(made.of_type("AWS::IAM::Role"))) == 1


def test_the_processor_claims_below_its_prefix_reads_one_document_and_dead_letters() -> None:
    made: Registrations = registrations()
    stack = made.stack
    assert granted(made, stack.processor.role) == {
        **_every_function(made, stack.processor.log_group),
        f"{PARAMETERS}/*": {"ssm:GetParameter", "ssm:GetParametersByPath", "ssm:PutParameter"},
        f"{_arn(made, stack.source.bucket)}/registrations.json": {"s3:GetObject"},
        _arn(made, stack.dead_letter_queue): {"sqs:SendMessage"},
    }


def test_the_sweeper_lists_marks_and_deletes_below_its_prefix() -> None:
    made: Registrations = registrations()
    assert granted(made, made.stack.sweeper.role) == {
        **_every_function(made, made.stack.sweeper.log_group),
        PARAMETERS: {"ssm:GetParametersByPath"},
        f"{PARAMETERS}/*": {"ssm:GetParameter", "ssm:PutParameter", "ssm:DeleteParameters"},
    }


def test_each_schedule_of_registrations_invokes_its_function_and_dead_letters() -> None:
    made: Registrations = registrations()
    stack = made.stack
    for runs, function in ((stack.processing, stack.processor), (stack.sweeping, stack.sweeper)):
        assert granted(made, runs.role) == {
            _arn(made, function.function): {"lambda:InvokeFunction"},
            _arn(made, runs.dead_letter_queue): {"sqs:SendMessage"},
        }


def test_the_edge_accepts_orders_and_tells_of_them() -> None:
    made: Orders = orders()
    stack = made.stack
    assert granted(made, stack.accept_order.role) == {
        **_every_function(made, stack.accept_order.log_group),
        _arn(made, stack.orders.table): {"dynamodb:GetItem", "dynamodb:PutItem"},
        f"<{made.logical_id(stack.workflow.state_machine)}>": {"states:StartExecution"},
    }
    assert granted(made, stack.order_status.role) == {
        **_every_function(made, stack.order_status.log_group),
        _arn(made, stack.orders.table): {"dynamodb:GetItem"},
    }


def test_the_first_and_the_last_state_of_an_order_update_its_record() -> None:
    made: Orders = orders()
    for function in (made.stack.begin_order, made.stack.finish_order):
        assert granted(made, function.role) == {
            **_every_function(made, function.log_group),
            _arn(made, made.stack.orders.table): {"dynamodb:UpdateItem"},
        }


def test_the_tasks_of_an_order_write_their_own_records() -> None:
    made: Orders = orders()
    for function in (made.stack.charge_payment, made.stack.provision_item):
        assert granted(made, function.role) == {
            **_every_function(made, function.log_group),
            _arn(made, made.stack.tasks.table): {
                "dynamodb:DeleteItem",
                "dynamodb:PutItem",
                "dynamodb:UpdateItem",
            },
        }


def test_the_orders_workflow_invokes_its_four_functions() -> None:
    made: Orders = orders()
    stack = made.stack
    allowed = granted(made, stack.workflow.state_machine.role)
    assert allowed.pop("*") <= WITHOUT_RESOURCE
    tasks = (stack.begin_order, stack.charge_payment, stack.provision_item, stack.finish_order)
    assert allowed == {_arn(made, task.function): {"lambda:InvokeFunction"} for task in tasks}


def test_the_reconciler_of_orders_reads_executions_and_tasks_and_updates_orders() -> None:
    made: Orders = orders()
    stack = made.stack
    machine = made.logical_id(stack.workflow.state_machine)
    executions = f"arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:<{machine}.Name>:*"
    assert granted(made, stack.reconciler.role) == {
        **_every_function(made, stack.reconciler.log_group),
        f"<{machine}>": {"states:ListExecutions"},
        executions: {"states:DescribeExecution", "states:GetExecutionHistory"},
        _arn(made, stack.orders.table): {
            "dynamodb:BatchGetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
        },
        _arn(made, stack.tasks.table): {"dynamodb:BatchGetItem"},
    }


def test_no_action_is_a_wildcard(each: Workload) -> None:
    for _, policy in each.of_type("AWS::IAM::Policy"):
        for statement in policy["PolicyDocument"]["Statement"]:
            assert not [action for action in _listed(statement["Action"]) if "*" in action]


def test_every_resource_is_named_where_the_service_knows_resources(each: Workload) -> None:
    for _, policy in each.of_type("AWS::IAM::Policy"):
        for statement in policy["PolicyDocument"]["Statement"]:
            if statement["Resource"] == "*":
                assert set(_listed(statement["Action"])) <= WITHOUT_RESOURCE


def test_every_function_has_a_role_of_its_own(each: Workload) -> None:
    functions = [properties for _, properties in each.of_type("AWS::Lambda::Function")]
    assert len({resolved(function["Role"]) for function in functions}) == len(functions)


def test_no_role_has_more_than_its_one_policy(each: Workload) -> None:
    roles = dict(each.of_type("AWS::IAM::Role"))
    assert len(roles) == len(list(each.of_type("AWS::IAM::Policy")))
    assert not [role for role in roles.values() if "ManagedPolicyArns" in role or "Policies" in role]


def _statements(made: Workload, role: iam.IRole) -> Iterator[dict[str, object]]:
    for _, policy in made.of_type("AWS::IAM::Policy"):
        if policy["Roles"] == [{"Ref": made.logical_id(role)}]:
            yield from policy["PolicyDocument"]["Statement"]


def _listed(value: object) -> list[str]:
    return value if isinstance(value, list) else [value]  # type: ignore[list-item]  # IAM allows both


def _every_function(made: Workload, log_group: object) -> Granted:
    return {_arn(made, log_group): LOGS, "*": TRACES}


def _arn(made: Workload, construct: object) -> str:
    return f"<{made.logical_id(construct)}.Arn>"  # type: ignore[arg-type]
