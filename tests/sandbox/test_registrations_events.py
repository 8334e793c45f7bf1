"""Schedules and events that tell of the same registrations: each is expired once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from sandbox.demo.registrations_plan import NO_REGISTRATIONS
from sandbox.downstream import Answer
from tests.sandbox.begun_early import begun_early, under_both
from tests.sandbox.deployed import eventually
from tests.sandbox.registrations import BUSY, DONE, Due, End, Registrations

SLOW = Answer(delay_seconds=0.5)
ABSENT = End(effects=0, steps=())


@under_both
def test_two_runs_over_the_same_document_expire_each_once(registrations: Registrations) -> None:
    dues = [registrations.due(SLOW) for _ in range(12)]
    registrations.publish(*dues, *dues)

    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(registrations.deployment.run) for _ in range(2)]
    counts = [run.result() for run in runs]

    assert [registrations.end(due) for due in dues] == [DONE] * len(dues)
    assert {len(registrations.calls(due)) for due in dues} == {1}
    assert {registrations.notifications.effects(f"{due.pk}:notification") for due in dues} == {1}
    assert sum(each["skipped-in-flight"] for each in counts) > 0  # or they did not overlap at all
    assert sum(each["executed"] for each in counts) <= len(dues)  # the schedule may have fired meanwhile


@under_both
def test_a_run_and_an_event_at_the_same_time_expire_it_once(registrations: Registrations) -> None:
    due = registrations.due(Answer(delay_seconds=1))
    registrations.publish(due)

    with ThreadPoolExecutor(1) as threads:
        run = threads.submit(registrations.deployment.run)
        eventually(lambda: registrations.calls(due))
        answer = registrations.take(due)
        run.result()

    assert answer["errorType"] == "Unfinished"  # whoever is at it may have died: the event must come again
    assert registrations.end(due) == DONE
    assert registrations.take(due) == {"skipped-completed": 1}
    assert len(registrations.calls(due)) == 1


@under_both
def test_an_event_before_the_run_leaves_nothing_for_it(registrations: Registrations) -> None:
    due = registrations.due()
    assert registrations.take(due) == {"executed": 1}

    registrations.publish(due)
    registrations.deployment.run()

    assert registrations.end(due) == DONE
    assert len(registrations.calls(due)) == 1


def events_on_the_bus(registrations: Registrations) -> tuple[Due, Due]:
    due, busy = registrations.due(SLOW), registrations.due(BUSY, Answer())
    registrations.tell(due, busy, due)
    return due, busy


@under_both
@begun_early(events_on_the_bus)
def test_an_event_on_the_bus_reaches_the_processor_and_comes_again_where_it_has_to(
    registrations: Registrations, begun: tuple[Due, Due]
) -> None:
    due, busy = begun

    registrations.ends(due, DONE)
    registrations.ends(busy, replace(DONE, steps=("IN_PROGRESS", "RELEASED", "IN_PROGRESS", "DONE")))
    assert len(registrations.calls(due)) == 1
    assert [call.attempt for call in registrations.calls(busy)] == ["1", "2"]


@under_both
def test_a_failed_notification_leaves_the_expiry_alone(registrations: Registrations) -> None:
    due = registrations.due()
    registrations.notifications.script = lambda call, _n: Answer(
        status=500 if call.key.startswith(due.pk) else 200
    )

    assert registrations.take(due) == {"executed": 1}
    assert registrations.end(due) == replace(DONE, status="EXPIRED_NOTIFICATION_FAILED")


@under_both
def test_what_is_not_due_or_too_old_or_no_registration_is_left_alone(registrations: Registrations) -> None:
    future, past, due = (registrations.due(days_ago=days) for days in (-2, 40, 1))
    registrations.publish(future, past, due, beside=NO_REGISTRATIONS)

    assert registrations.deployment.run()["invalid"] == len(NO_REGISTRATIONS)
    assert registrations.end(due) == DONE
    assert [registrations.end(each) for each in (future, past)] == [ABSENT, ABSENT]
    assert [registrations.calls(each) for each in (future, past)] == [[], []]
