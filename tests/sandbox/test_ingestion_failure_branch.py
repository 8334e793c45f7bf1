"""Steps of the failure branch that fail once, and for good: nothing is lost.

The workflow itself sends to the dead-letter queue, past the proxy: that state's failures are played in
tests/statemachines.
"""

from dataclasses import replace
from typing import Any

from sandbox.downstream import Answer
from sandbox.faults import Ordered
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import begun_early, under_both
from tests.sandbox.workload import DONE, Delivery, Outcome, Workload

REJECTED = Answer(status=422)
ONCE_REJECTED = Outcome(effects=0, state="FAILED", reasons=("rejected",))


def denied_once(workload: Workload) -> tuple[Delivery, Ordered]:
    """Access denied is no error that the SDK would try again."""
    event = workload.event(REJECTED)
    fault = workload.faults.error(
        "UpdateItem", "AccessDeniedException", status=400, body=calls_to_aws.write("fail", event)
    )
    return workload.send(event), fault


@under_both
@begun_early(denied_once)
def test_a_failure_that_could_not_be_recorded_at_once_is_recorded_later(
    workload: Workload, begun: Any
) -> None:
    delivery, fault = begun

    assert workload.outcome(delivery) == ONCE_REJECTED
    assert fault.fired() == 1


def denied_for_good(workload: Workload) -> tuple[Delivery, Ordered, list[Outcome], Delivery]:
    event = workload.event(REJECTED, Answer())
    fault = workload.faults.error(
        "UpdateItem", "AccessDeniedException", status=400, body=calls_to_aws.write("fail", event), times=4
    )
    delivery = workload.send(event)
    before = workload.outcome(delivery)
    workload.settled(delivery)
    workload.reconcile()
    workload.reconcile()
    return delivery, fault, [before, workload.outcome(delivery)], workload.redrive(event)


@under_both
@begun_early(denied_for_good)
def test_a_failure_that_is_never_recorded_is_left_to_the_reconciler(workload: Workload, begun: Any) -> None:
    _, fault, (before, after), redriven = begun

    assert before == Outcome(effects=0, state="IN_PROGRESS", status="FAILED")
    assert fault.fired() == 4
    assert after == Outcome(effects=0, state="IN_DOUBT", reasons=("in-doubt",), status="FAILED")
    if workload.semantics == "at-most-once":
        assert workload.outcome(redriven) == replace(
            after, reasons=("in-doubt", "in-doubt"), status="SUCCEEDED"
        )
    else:
        assert workload.outcome(redriven) == replace(DONE, reasons=("in-doubt",))
