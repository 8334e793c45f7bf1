"""What the schedule sets off: all that is due, each on its own, counted, never out of time."""

import threading

import pytest

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from registrations.document import UnreadableDocument
from registrations.model import LAST_LOOK, InvalidRegistration, Registration
from tests.unit.aws import refusal
from tests.unit.conftest import Lines
from tests.unit.registrations.desk import LOOKBACK, REGISTRATION, TAKEOVER, Desk, registration
from tests.unit.registrations.metrics import counted


def _lists(desk: Desk, count: int) -> None:
    """REG-1 and so on, all of them due."""
    desk.listed.registrations = [registration(f"REG-{number}") for number in range(1, count + 1)]


def test_all_that_is_due_is_expired_once_however_often_the_schedule_fires(
    desk: Desk, metric_lines: Lines
) -> None:
    _lists(desk, 20)
    assert desk.run() == {"executed": 20}
    assert desk.run() == {"skipped-completed": 20}
    assert sorted(desk.registry.expired) == sorted((f"REG-{n}", 1) for n in range(1, 21))
    lines = metric_lines()
    assert counted(lines, "Registrations") == {"executed": 20, "skipped-completed": 20}
    assert counted(lines, "Unfinished") == {}


def test_every_outcome_has_its_count_even_if_it_is_none(desk: Desk) -> None:
    assert desk.processor.run(enough_time=lambda: True) == {
        "executed": 0,
        "skipped-completed": 0,
        "skipped-in-flight": 0,
        "dead": 0,
        "not-applied": 0,
        "unknown": 0,
        "not-reached": 0,
        "invalid": 0,
    }


def test_each_ends_in_its_own_way_and_its_neighbours_do_not_notice(
    repeatable: Desk, metric_lines: Lines, log_lines: Lines
) -> None:
    _lists(repeatable, 6)
    repeatable.registry.raises_for = {
        "REG-2": Rejected(),
        "REG-3": NotApplied(),
        "REG-4": OutcomeUnknown(),
        "REG-5": ValueError("a bug"),
    }
    repeatable.guard.claim(registration("REG-6").key)
    repeatable.listed.invalid = [InvalidRegistration("recordId", "of entry 7: is missing")]
    counts = {"executed": 1, "dead": 1, "not-applied": 1, "unknown": 2, "skipped-in-flight": 1, "invalid": 1}
    assert repeatable.run() == counts
    lines = metric_lines()
    del counts["invalid"]
    assert counted(lines, "Registrations") == counts
    assert counted(lines, "Unfinished") == {None: 3}
    assert counted(lines, "InvalidRegistrations") == {None: 1}
    assert counted(lines, "DeadLettered") == {"rejected": 1}
    assert [line["counts"]["unknown"] for line in log_lines() if line["message"] == "run"] == [2]


def test_the_next_run_takes_what_was_left(repeatable: Desk) -> None:
    _lists(repeatable, 3)
    repeatable.registry.raises_for = {"REG-1": NotApplied(), "REG-2": OutcomeUnknown()}
    repeatable.run()
    repeatable.registry.raises_for = {}
    assert repeatable.run() == {"executed": 2, "skipped-completed": 1}


def test_runs_that_overlap_share_the_work(desk: Desk) -> None:
    """The second begins while the first has claims out."""
    _lists(desk, 8)
    threads: list[threading.Thread] = []
    second: list[dict[str, int]] = []

    def overlap() -> None:
        threads.append(threading.Thread(target=lambda: second.append(desk.run())))
        threads[-1].start()
        threads[-1].join(timeout=30)

    desk.registry.meanwhile = overlap
    first = desk.run()
    (other,) = second
    assert first.get("executed", 0) + other.get("executed", 0) == 8
    assert first.keys() | other.keys() <= {"executed", "skipped-completed", "skipped-in-flight"}
    assert sorted(desk.registry.expired) == [(f"REG-{number}", 1) for number in range(1, 9)]


SECONDS = {
    "the second before its day": (REGISTRATION.due_at - 1, {}),
    "the first of its day": (REGISTRATION.due_at, {"executed": 1}),
    "the last of the lookback": (REGISTRATION.due_at + LOOKBACK, {"executed": 1}),
    "the first after it": (REGISTRATION.due_at + LOOKBACK + 1, {"dead": 1}),
    "the last look": (REGISTRATION.due_at + LOOKBACK + LAST_LOOK, {"dead": 1}),
    "the second after": (REGISTRATION.due_at + LOOKBACK + LAST_LOOK + 1, {}),
}


@pytest.mark.parametrize("second", SECONDS)
def test_it_is_taken_from_its_day_to_the_end_of_the_lookback(second: str, desk: Desk) -> None:
    desk.now, counts = SECONDS[second]
    desk.listed.registrations = [REGISTRATION]
    assert desk.run() == counts
    assert len(desk.registry.expired) == counts.get("executed", 0)
    assert desk.queue.reasons == ["too-late"] * counts.get("dead", 0)


def test_a_record_is_there_for_as_long_as_its_registration_is_looked_at(desk: Desk) -> None:
    """Even if it was done in the first second of its day and then listed until the end."""
    desk.listed.registrations = [REGISTRATION]
    desk.now = REGISTRATION.due_at
    assert desk.run() == {"executed": 1}
    desk.now += LOOKBACK + LAST_LOOK
    assert desk.run() == {"skipped-completed": 1}


def test_what_there_is_no_time_for_is_not_begun(desk: Desk, metric_lines: Lines) -> None:
    _lists(desk, 5)
    assert desk.run(enough_time=[True, True, False, False, False]) == {"executed": 2, "not-reached": 3}
    assert len(desk.registry.expired) == 2
    assert counted(metric_lines(), "Unfinished") == {None: 3}
    assert desk.run() == {"executed": 3, "skipped-completed": 2}


def test_where_time_runs_out_in_every_run_each_registration_still_has_its_turn(desk: Desk) -> None:
    """In the document's order the same few would be looked at each time."""
    _lists(desk, 10)
    for _ in range(40):
        desk.run(enough_time=[True, True, *[False] * 8])
    assert len(desk.registry.expired) == 10


def test_no_more_run_at_once_than_the_setting_says(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    _lists(desk, 12)
    at_once = threading.Barrier(4)
    running: set[int] = set()
    most = []

    def expire(_: Registration, *, attempt: int) -> None:
        running.add(threading.get_ident())
        most.append(len(running))
        at_once.wait(timeout=30)
        running.discard(threading.get_ident())

    monkeypatch.setattr(desk.registry, "expire", expire)
    assert desk.run() == {"executed": 12}
    assert max(most) == 4


def test_no_thread_outlives_a_run(desk: Desk) -> None:
    before = set(threading.enumerate())
    _lists(desk, 10)
    desk.registry.raises_for = {"REG-3": OutcomeUnknown()}
    desk.run()
    assert set(threading.enumerate()) == before


def test_a_document_that_cannot_be_read_fails_the_run(desk: Desk, metric_lines: Lines) -> None:
    desk.listed.raises = UnreadableDocument("s3://registrations/due.json: is no list")
    with pytest.raises(UnreadableDocument):
        desk.run()
    assert (desk.registry.expired, metric_lines()) == ([], [])


def test_a_queue_that_takes_no_copy_holds_up_nobody_else(desk: Desk) -> None:
    _lists(desk, 3)
    desk.registry.raises_for = {"REG-1": Rejected()}
    desk.queue.failures.append(refusal("OverLimit", "SendMessage"))
    assert desk.run() == {"executed": 2, "unknown": 1}
    assert desk.run() == {"skipped-completed": 2, "dead": 1}


def test_one_crashes_half_way_and_a_later_run_takes_over(repeatable: Desk) -> None:
    """Lambda ends the whole process: every claim that was out stays."""
    _lists(repeatable, 3)
    for each in repeatable.listed.registrations[:2]:
        repeatable.guard.claim(each.key)
    assert repeatable.run() == {"executed": 1, "skipped-in-flight": 2}
    repeatable.now = TAKEOVER
    assert repeatable.run() == {"executed": 2, "skipped-completed": 1}
    assert sorted(repeatable.registry.expired) == [("REG-1", 2), ("REG-2", 2), ("REG-3", 1)]
