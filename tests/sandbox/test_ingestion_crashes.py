"""Processes that die in mid-run, killed from outside."""

from sandbox.downstream import Answer
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import (
    AT_MOST_ONCE,
    IDEMPOTENT_DOWNSTREAM,
    When,
    begun_early,
    under,
    under_both,
)
from tests.sandbox.deployed import eventually
from tests.sandbox.workload import DONE, Delivery, Outcome, Workload


def kill_while_the_downstream_holds_the_call(workload: Workload) -> Delivery:
    event = workload.event(Answer(delay_seconds=30), Answer())
    delivery = workload.send(event)
    eventually(lambda: workload.calls(event))
    workload.kill("SideEffect")
    return delivery


@under(AT_MOST_ONCE)
@begun_early(kill_while_the_downstream_holds_the_call, When.ALONE)
def test_an_effect_whose_worker_died_is_in_doubt_and_not_repeated(
    workload: Workload, begun: Delivery
) -> None:
    assert workload.outcome(begun) == Outcome(effects=1, state="IN_DOUBT", reasons=("in-doubt",))
    assert len(workload.calls(begun.event)) == 1


@under(IDEMPOTENT_DOWNSTREAM)
@begun_early(kill_while_the_downstream_holds_the_call, When.ALONE)
def test_an_effect_whose_worker_died_is_repeated_under_its_key(workload: Workload, begun: Delivery) -> None:
    assert workload.outcome(begun) == DONE
    assert len(workload.calls(begun.event)) == 2


def kill_guards_before_and_after_their_claim(workload: Workload) -> tuple[Delivery, Delivery]:
    """The claim that the first dead worker had sent still arrives, after that of its successor.

    The second one's claim took effect, but the answer was lost: it dies while its SDK sends the claim again.
    """
    before, after = workload.event(), workload.event()
    of_before, of_after = (calls_to_aws.write("claim", event) for event in (before, after))
    workload.faults.lost_answer("UpdateItem", body=of_after)
    held_after = workload.faults.latency("UpdateItem", 2.5, body=of_after)
    of_after_delivery = workload.send(after)
    eventually(lambda: workload.record(after))
    held_before = workload.faults.latency("UpdateItem", 2.5, body=of_before)
    of_before_delivery = workload.send(before)
    eventually(lambda: held_before.fired() and held_after.fired())
    assert workload.record(before) is None
    workload.kill("IdempotencyGuard")
    deliveries = of_before_delivery, of_after_delivery
    for delivery in deliveries:
        workload.ended(delivery)
    return deliveries


@under_both
@begun_early(kill_guards_before_and_after_their_claim, When.ALONE)
def test_a_guard_that_is_killed_is_started_again_and_finds_its_own_claim(
    workload: Workload, begun: tuple[Delivery, Delivery]
) -> None:
    for delivery in begun:
        assert workload.outcome(delivery) == DONE
        record = workload.record(delivery.event)
        assert record is not None
        assert (record["attempt"], record["owner"]) == ("1", delivery.execution)
