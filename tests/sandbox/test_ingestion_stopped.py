"""Executions stopped from outside: the reconciler dead-letters their events once, and the way back is open.

The emulator tries a state that fails again even in a stopped execution, which AWS does not do: whatever
fails here fails until the last of four tries.
"""

from dataclasses import dataclass, replace

from sandbox.downstream import Answer
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import AT_MOST_ONCE, begun_early, under_both
from tests.sandbox.deployed import eventually
from tests.sandbox.workload import DONE, Delivery, Event, Outcome, Workload

TRIES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """How the event stood when it was reconciled twice, and after a redrive of its dead letter."""

    reconciled: Outcome
    redriven: Outcome


def stopped(workload: Workload, event: Event, delivery: Delivery) -> Stopped:
    workload.stop(delivery)
    workload.settled(delivery)
    workload.reconcile()
    workload.reconcile()
    reconciled = workload.outcome(delivery)
    return Stopped(reconciled=reconciled, redriven=workload.outcome(workload.redrive(event)))


def during_the_claim(workload: Workload) -> Stopped:
    event = workload.event()
    held = workload.faults.latency("UpdateItem", 2, body=calls_to_aws.write("claim", event))
    delivery = workload.send(event)
    eventually(held.fired)
    return stopped(workload, event, delivery)


def before_a_claim_succeeds(workload: Workload) -> Stopped:
    event = workload.event()
    denied = workload.faults.error(
        "UpdateItem",
        "AccessDeniedException",
        status=400,
        after_seconds=1,
        body=calls_to_aws.write("claim", event),
        times=TRIES,
    )
    delivery = workload.send(event)
    eventually(denied.fired)
    return stopped(workload, event, delivery)


def during_the_effect(workload: Workload) -> Stopped:
    """The downstream answers past the deadline, so that the effect's outcome stays unknown."""
    event = workload.event(*[Answer(delay_seconds=30)] * TRIES, Answer())
    delivery = workload.send(event)
    eventually(lambda: workload.calls(event))
    return stopped(workload, event, delivery)


def during_an_effect_that_succeeds(workload: Workload) -> tuple[Delivery, Outcome]:
    event = workload.event(Answer(delay_seconds=1.5))
    delivery = workload.send(event)
    eventually(lambda: workload.calls(event))
    workload.stop(delivery)
    workload.settled(delivery)
    workload.reconcile()
    return delivery, workload.outcome(delivery)


@under_both
@begun_early(during_the_claim)
def test_stopped_during_the_guard(workload: Workload, begun: Stopped) -> None:
    """The guard claimed after the stop; that no effect followed, the reconciler can't know."""
    assert begun.reconciled == Outcome(effects=0, state="IN_DOUBT", reasons=("in-doubt",), status="ABORTED")
    if workload.semantics == AT_MOST_ONCE:
        assert begun.redriven == Outcome(effects=0, state="IN_DOUBT", reasons=("in-doubt", "in-doubt"))
    else:
        assert begun.redriven == replace(DONE, reasons=("in-doubt",))


@under_both
@begun_early(before_a_claim_succeeds)
def test_stopped_before_anything_was_claimed(workload: Workload, begun: Stopped) -> None:
    assert begun.reconciled == Outcome(effects=0, state=None, reasons=("unfinished",), status="ABORTED")
    assert begun.redriven == replace(DONE, reasons=("unfinished",))


@under_both
@begun_early(during_the_effect)
def test_stopped_during_the_effect(workload: Workload, begun: Stopped) -> None:
    assert begun.reconciled == Outcome(effects=1, state="IN_DOUBT", reasons=("in-doubt",), status="ABORTED")
    if workload.semantics == AT_MOST_ONCE:
        assert begun.redriven == Outcome(effects=1, state="IN_DOUBT", reasons=("in-doubt", "in-doubt"))
    else:
        assert begun.redriven == replace(DONE, reasons=("in-doubt",))


@under_both
@begun_early(during_an_effect_that_succeeds)
def test_stopped_during_an_effect_that_is_done_all_the_same(
    workload: Workload, begun: tuple[Delivery, Outcome]
) -> None:
    _, reconciled = begun
    assert reconciled == replace(DONE, status="ABORTED")
