"""RedriveExecution, played: a failed order goes on at the task that failed, and nothing is done twice."""

import pytest

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from tests.statemachines.executions import Run
from tests.statemachines.faults import CRASH, Play, answer_lost, fails, works
from tests.statemachines.orders_downstream import dies
from tests.statemachines.orders_run import OrdersRun

reconciled_or_not = pytest.mark.parametrize("reconciled", [False, True], ids=["before", "after reconciling"])


@reconciled_or_not
@pytest.mark.parametrize(
    "play",
    [fails(Rejected("HTTP 402")), fails(NotApplied("HTTP 503")), answer_lost(OutcomeUnknown("no answer"))],
    ids=["rejected", "not applied", "unknown"],
)
def test_a_redrive_at_the_payment_finishes_the_order(play: Play, reconciled: bool, orders: OrdersRun) -> None:
    failed = failing_payment(orders, play, reconciled=reconciled)

    run = orders.redrive(failed, at="ChargePayment")

    assert run.status == "SUCCEEDED"
    assert (len(orders.payment.happened), len(orders.provisioning.happened)) == (1, 2)
    assert len(orders.payment.asked) == 1, "all tries are made under one key"
    assert orders.told().keys() == {"id", "status", "result"}
    assert orders.post().replayed


@reconciled_or_not
def test_a_redrive_at_a_payment_that_is_done_answers_with_its_first_receipt(
    reconciled: bool, orders: OrdersRun
) -> None:
    """Each answer of the function was lost; the redriven execution has the same name."""
    orders.functions.charge_payment.script.always(answer_lost(CRASH))
    failed = orders.place()
    if reconciled:
        orders.reconcile()
    orders.functions.charge_payment.script.always(works)

    assert orders.redrive(failed, at="ChargePayment").status == "SUCCEEDED"

    assert list(orders.payment.asked.values()) == [1]
    assert orders.told()["result"]["payment"]["receipt"] == orders.payment.receipt("charge-payment")


@reconciled_or_not
def test_a_redrive_at_the_items_charges_nothing_and_provisions_only_what_is_not_done(
    reconciled: bool, orders: OrdersRun
) -> None:
    provisioned = orders.provisioning.tasks["provision-item:1"]
    provisioned.always(fails(Rejected("HTTP 404")))
    failed = orders.place()
    orders.functions.wait_until_idle()
    if reconciled:
        orders.reconcile()
        assert orders.told()["status"] == "FAILED"
    provisioned.always(works)
    before = dict(orders.provisioning.receipts)

    assert orders.redrive(failed, at="ProvisionItems").status == "SUCCEEDED"

    assert list(orders.payment.asked.values()) == [1]
    assert before.items() <= orders.provisioning.receipts.items()
    assert [orders.provisioning.asks(f"provision-item:{number}") for number in (0, 1)] == [1, 2]
    assert orders.told()["result"]["items"] == [
        {"receipt": orders.provisioning.receipt(f"provision-item:{number}")} for number in (0, 1)
    ]


def test_an_effect_that_nobody_heard_of_is_not_repeated_by_a_redrive(orders: OrdersRun) -> None:
    """Under the same key the downstream answers with what it did."""
    orders.provisioning.tasks["provision-item:0"].always(dies(applied=True))
    failed = orders.place()
    assert failed.status == "FAILED"
    orders.functions.wait_until_idle()
    orders.reconcile()
    assert orders.told()["tasks"]["items"][0] == "unknown"
    orders.provisioning.tasks["provision-item:0"].always(works)

    assert orders.redrive(failed, at="ProvisionItems").status == "SUCCEEDED"

    assert len(orders.provisioning.happened) == 2
    assert orders.told()["status"] == "SUCCEEDED"


def test_a_redrive_soon_after_a_crash_waits_for_the_lost_invocation(orders: OrdersRun) -> None:
    """Its claim may still be live; looking for it lasts longer than that."""
    tasks = orders.payment.tasks["charge-payment"]
    tasks.first(*[fails(OutcomeUnknown("HTTP 500"))] * orders.settings.workflow.retry_attempts)
    tasks.first(dies(applied=False))
    failed = orders.place()
    assert failed.status == "FAILED"
    naps = len(orders.clock.naps)

    assert orders.redrive(failed, at="ChargePayment").status == "SUCCEEDED"

    assert set(orders.clock.naps[naps:]) == {orders.settings.workflow.in_progress_interval_seconds}


@pytest.mark.parametrize("function", ["begin_order", "finish_order"])
@reconciled_or_not
def test_a_redrive_at_the_first_or_the_last_state_finishes_the_order(
    function: str, reconciled: bool, orders: OrdersRun
) -> None:
    script = getattr(orders.functions, function).script
    script.always(fails(CRASH))
    failed = orders.place()
    if reconciled:
        orders.reconcile()
    script.always(works)

    run = orders.redrive(failed, at=failed.states[-1])

    assert run.status == "SUCCEEDED"
    assert list(orders.payment.asked.values()) == [1]
    assert orders.told()["status"] == "SUCCEEDED"


def test_a_redrive_of_an_order_that_nobody_waits_for_any_more_writes_to_no_other(orders: OrdersRun) -> None:
    """It was charged, so it goes on to its end; the key is another order's by now."""
    orders.functions.finish_order.script.always(fails(CRASH))
    failed = orders.place()
    orders.functions.finish_order.script.always(works)
    orders.clock.advance(orders.settings.retention_seconds)
    orders.post()
    orders.machine.finish(orders.machine.latest)
    second = orders.told()

    assert orders.redrive(failed, at="FinishOrder").status == "SUCCEEDED"

    assert orders.told() == second


def failing_payment(orders: OrdersRun, play: Play, *, reconciled: bool) -> Run:
    script = orders.payment.tasks["charge-payment"]
    script.always(play)
    failed = orders.place()
    assert (failed.status, failed.states[-1]) == ("FAILED", "ChargePayment")
    if reconciled:
        assert orders.reconcile() == {"handled": 1}
        assert orders.told()["status"] == "FAILED"
    script.always(works)
    return failed
