"""The functions' roles are enforced: without its grant a function is denied, and nothing is lost."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tests.sandbox.begun_early import AT_MOST_ONCE, When, begun_early, under
from tests.sandbox.deployed import eventually
from tests.sandbox.workload import DONE, Delivery, Outcome, Workload


@contextmanager
def without(workload: Workload, function: str, action: str) -> Iterator[None]:
    """Takes one action out of the deployed policy of the function's role, for a while."""
    iam = workload.sandbox.client("iam")
    role = workload.configuration(function)["Role"].rpartition("/")[2]
    (policy,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    document = iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]
    kept = [each for each in document["Statement"] if action not in each["Action"]]
    assert len(kept) == len(document["Statement"]) - 1

    def put(statements: list[Any]) -> None:
        changed = json.dumps({**document, "Statement": statements})
        iam.put_role_policy(RoleName=role, PolicyName=policy, PolicyDocument=changed)

    put(kept)
    try:
        yield
    finally:
        put(document["Statement"])


def deny_the_guard_its_claim(workload: Workload) -> tuple[dict[str, Any], Delivery]:
    """Once by a direct call, which shows the error; once for a delivery, until the workflow gives up."""
    event = workload.event()
    with without(workload, "IdempotencyGuard", "dynamodb:UpdateItem"):
        answer = workload.sandbox.client("lambda").invoke(
            FunctionName=workload.outputs["IdempotencyGuardName"],
            Payload=json.dumps({"messageId": "direct", "executionId": "direct"}),
        )
        delivery = workload.send(event)
        eventually(lambda: workload.execution(delivery))
        eventually(lambda: "LetInvocationsEnd" in workload.states(delivery))
    return json.load(answer["Payload"]), delivery


@under(AT_MOST_ONCE)
@begun_early(deny_the_guard_its_claim, When.ALONE)
def test_a_guard_without_its_grant_is_denied_and_its_event_is_dead_lettered(
    workload: Workload, begun: tuple[dict[str, Any], Delivery]
) -> None:
    answer, delivery = begun

    assert "AccessDeniedException" in answer["errorMessage"]
    assert "not authorized to perform: dynamodb:UpdateItem" in answer["errorMessage"]
    assert workload.outcome(delivery) == Outcome(effects=0, state=None, reasons=("guard-failed",))
    assert workload.outcome(workload.redrive(delivery.event)) == replace(DONE, reasons=("guard-failed",))
