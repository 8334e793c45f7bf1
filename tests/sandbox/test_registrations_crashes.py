"""Processors that die between expiry and done, and those that live on after their lease was taken over."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from sandbox.demo.registrations_deployment import SCHEDULED
from sandbox.downstream import Answer
from tests.sandbox.begun_early import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM, When, begun_early, under
from tests.sandbox.deployed import eventually
from tests.sandbox.registrations import DONE, Due, End, Registrations

HELD_SECONDS = 2.5  # within the registry's deadline
TAKEN_OVER = replace(DONE, steps=("IN_PROGRESS", "IN_PROGRESS", "DONE"))
IN_DOUBT = End(effects=1, steps=("IN_PROGRESS", "IN_DOUBT", "REPORTED"), reasons=("in-doubt",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    victim: Due
    others: list[Due]


def kill_half_way(registrations: Registrations) -> Killed:
    """A run over more than it handles at a time; then leases that are over, and the next run."""
    killed = eventually(lambda: killed_half_way(registrations))
    for due in (killed.victim, *killed.others):
        if (record := registrations.record(due)) and record["state"] == "IN_PROGRESS":
            registrations.lapse(due)
    registrations.deployment.run()
    return killed


def killed_half_way(registrations: Registrations) -> Killed | None:
    """None if it was the schedule's run that had the victim, as may be on a machine under load."""
    victim, *others = (
        registrations.due(Answer(delay_seconds=HELD_SECONDS), Answer()),
        *(registrations.due(Answer(delay_seconds=0.2)) for _ in range(12)),
    )
    registrations.publish(victim, *others)
    with ThreadPoolExecutor(1) as threads:
        run = threads.submit(registrations.invoke, SCHEDULED)
        eventually(lambda: registrations.calls(victim))
        registrations.kill("Processor")
    return Killed(victim=victim, others=others) if "errorType" in run.result() else None


@under(IDEMPOTENT_DOWNSTREAM)
@begun_early(kill_half_way, When.ALONE)
def test_what_a_dead_worker_held_is_taken_over_and_the_rest_is_done(
    registrations: Registrations, begun: Killed
) -> None:
    registrations.ends(begun.victim, TAKEN_OVER)
    first, second = registrations.calls(begun.victim)
    assert (first.key, first.attempt, second.key, second.attempt) == (
        begun.victim.pk,
        "1",
        begun.victim.pk,
        "2",
    )
    for other in begun.others:
        registrations.ends(other, DONE, TAKEN_OVER)


@under(AT_MOST_ONCE)
@begun_early(kill_half_way, When.ALONE)
def test_what_a_dead_worker_held_is_in_doubt_and_told_and_the_rest_is_done(
    registrations: Registrations, begun: Killed
) -> None:
    registrations.ends(begun.victim, IN_DOUBT)
    assert len(registrations.calls(begun.victim)) == 1
    for other in begun.others:
        registrations.ends(other, DONE, IN_DOUBT, replace(IN_DOUBT, effects=0))


def lease_taken_over_while_the_registry_holds_the_answer(registrations: Registrations) -> Due:
    return eventually(lambda: taken_over(registrations))


def taken_over(registrations: Registrations) -> Due | None:
    """None if the first worker was not late after all, as may be on a machine under load."""
    due = registrations.due(Answer(delay_seconds=HELD_SECONDS), Answer())
    registrations.tell(due)
    eventually(lambda: registrations.calls(due))
    registrations.lapse(due)
    return due if registrations.take(due) == {"executed": 1} else None


@under(IDEMPOTENT_DOWNSTREAM)
@begun_early(lease_taken_over_while_the_registry_holds_the_answer, When.ALONE)
def test_a_late_worker_changes_nothing_and_is_counted(registrations: Registrations, begun: Due) -> None:
    def late() -> list[str]:
        return [line["exception_name"] for line in registrations.said(begun) if "exception_name" in line]

    eventually(lambda: "LeaseLost" in late(), every=0.5)
    assert registrations.end(begun) == TAKEN_OVER
    assert len(registrations.calls(begun)) == 2
    assert any("LostClaims" in line for line in registrations.log_lines("Processor"))
