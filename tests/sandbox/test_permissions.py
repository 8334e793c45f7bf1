"""Each role's policy is what its function calls: nothing is denied, and nothing granted that is never used.

Judged when all other tests have run, by the calls that they made. Where a function has not made all of its
calls by then, a story makes it make them. With `-rP` pytest shows who uses what.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from sandbox.aws import Sandbox
from sandbox.demo.beside import beside
from sandbox.downstream import Answer
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import under_both
from tests.sandbox.charges import Charges
from tests.sandbox.deployed import eventually
from tests.sandbox.orders_api import DeployedOrders
from tests.sandbox.orders_workflow import OrdersWorkflow
from tests.sandbox.permissions import Permissions
from tests.sandbox.registrations import Registrations
from tests.sandbox.test_charges_events import refused_for_now
from tests.sandbox.test_ingestion_stopped import TRIES, during_the_claim
from tests.sandbox.test_orders_workflow import reject_a_payment, reject_an_item
from tests.sandbox.test_registrations_sweep import plant
from tests.sandbox.workload import Workload

pytestmark = pytest.mark.after_all_others

REJECTED = Answer(status=422)


def messages(workload: Workload) -> None:
    unreadable = workload.refused_event("is no JSON")
    workload.send(unreadable)
    workload.ended(workload.send(workload.event()))
    eventually(lambda: workload.letters(unreadable))


def failures(workload: Workload) -> None:
    """One of the effect, one of a guard that never gets to its claim."""
    unclaimed = workload.event()
    workload.faults.error(
        "UpdateItem",
        "AccessDeniedException",
        status=400,
        body=calls_to_aws.write("claim", unclaimed),
        times=TRIES,
    )
    for delivery in [workload.send(event) for event in (unclaimed, workload.event(REJECTED))]:
        workload.ended(delivery)


def charges_of_all_kinds(charges: Charges) -> None:
    malformed = charges.due(amount="-1")
    charges.send(malformed)
    charges.end(refused_for_now(charges))
    eventually(lambda: charges.letters(malformed))


def registrations_of_all_kinds(registrations: Registrations) -> None:
    unheard, rejected = registrations.due(), registrations.due(REJECTED)
    registrations.faults.lost_answer("PutParameter", body=calls_to_aws.parameter(unheard, 1))
    registrations.publish(unheard, rejected)
    registrations.deployment.run()


def a_sweep(registrations: Registrations) -> None:
    plant(registrations)
    registrations.deployment.sweep()


def an_order(workflow: OrdersWorkflow) -> None:
    """And a body that is none under its key."""
    placed = workflow.place()
    workflow.end(placed)
    workflow.orders.post(placed.key, b"{}")


Stories = Mapping[str, Callable[[Any], object]]

# By function: what makes it make each of its calls.
INGESTION: Stories = {
    "Starter": messages,
    "IdempotencyGuard": messages,
    "SideEffect": messages,
    "RecordFailure": failures,
    "Reconciler": during_the_claim,
}
CHARGES: Stories = {"Consumer": charges_of_all_kinds}
REGISTRATIONS: Stories = {"Processor": registrations_of_all_kinds, "Sweeper": a_sweep}
ORDERS: Stories = {
    "AcceptOrder": an_order,
    "OrderStatus": an_order,
    "BeginOrder": an_order,
    "FinishOrder": an_order,
    "ChargePayment": reject_a_payment,
    "ProvisionItem": reject_an_item,
    "Reconciler": reject_a_payment,
}


def judge(sandbox: Sandbox, stack: str, stories: Stories, deployed: Any) -> None:
    permissions = Permissions(sandbox, stack)
    missing = {stories[grant.function] for grant in permissions.unused() if grant.function in stories}
    for told in [beside(partial(story, deployed)) for story in missing]:
        told.result(timeout=240)

    print(permissions.table())  # noqa: T201 - for whoever asks with -rP
    assert (permissions.unused(), permissions.denied()) == (set(), set())
    assert permissions.for_lambda.keys() <= permissions.granted  # what this AWS does not check


@under_both
def test_roles_of_ingestion_may_do_what_their_functions_do(workload: Workload) -> None:
    judge(workload.sandbox, f"sandbox-ingestion-{workload.semantics}", INGESTION, workload)


@under_both
def test_roles_of_charges_may_do_what_their_functions_do(charges: Charges) -> None:
    judge(charges.sandbox, f"sandbox-charges-{charges.semantics}", CHARGES, charges)


@under_both
def test_roles_of_registrations_may_do_what_their_functions_do(registrations: Registrations) -> None:
    stack = f"sandbox-registrations-{registrations.semantics}"
    judge(registrations.sandbox, stack, REGISTRATIONS, registrations)


def test_roles_of_orders_may_do_what_their_functions_do(orders: DeployedOrders) -> None:
    judge(orders.sandbox, "sandbox-orders", ORDERS, OrdersWorkflow(orders))
