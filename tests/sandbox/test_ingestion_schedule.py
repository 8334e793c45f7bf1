"""The reconciler's schedule is deployed and leads to the reconciler."""

from typing import Any

from tests.sandbox.begun_early import under_both
from tests.sandbox.deployed import eventually
from tests.sandbox.workload import Workload


@under_both
def test_the_schedule_calls_the_reconciler_every_five_minutes(workload: Workload) -> None:
    scheduler = workload.sandbox.client("scheduler")
    stack = f"sandbox-ingestion-{workload.semantics}"
    name = workload.sandbox.physical_id(stack, "Reconciling", "AWS::Scheduler::Schedule")
    schedule: Any = scheduler.get_schedule(Name=name.rpartition("/")[2])

    assert (schedule["ScheduleExpression"], schedule["State"]) == ("rate(5 minutes)", "ENABLED")
    target = schedule["Target"]
    assert target["Arn"] == workload.configuration("Reconciler")["FunctionArn"]
    assert target["DeadLetterConfig"]["Arn"].startswith("arn:aws:sqs:")
    role = target["RoleArn"].rpartition("/")[2]
    iam = workload.sandbox.client("iam")
    (policy,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    statements = iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]["Statement"]
    allowed = {(statement["Action"], statement["Resource"]) for statement in statements}
    assert allowed == {
        ("lambda:InvokeFunction", target["Arn"]),
        ("sqs:SendMessage", target["DeadLetterConfig"]["Arn"]),
    }


@under_both
def test_a_reconciler_with_nothing_to_do_does_nothing(workload: Workload) -> None:
    """Other tests' executions may settle just now; the run after theirs finds nothing."""
    assert eventually(lambda: workload.reconcile()["handled"] == 0)
