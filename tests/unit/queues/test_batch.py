"""A batch: every record on its own, no more at once than allowed, none begun too late, no thread left."""

import threading
from typing import Any

import pytest

from queues.batch import process_batch
from tests.unit.conftest import Lines


def _records(count: int) -> list[dict[str, Any]]:
    return [{"messageId": f"m-{number}", "body": "{}"} for number in range(count)]


def _plenty() -> float:
    return 60.0


def _failed(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    assert answer.keys() == {"batchItemFailures"}
    assert all(each.keys() == {"itemIdentifier"} for each in answer["batchItemFailures"])
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def test_a_record_that_raises_stays_on_the_queue_and_its_neighbours_do_not() -> None:
    handled = []

    def handle(record: dict[str, Any]) -> bool:
        if record["messageId"] in ("m-1", "m-3"):
            raise RuntimeError("poison")
        handled.append(record["messageId"])
        return True

    answer = process_batch(_records(5), handle, concurrency=2, seconds_left=_plenty, worst_case_seconds=1)
    assert _failed(answer) == ["m-1", "m-3"]
    assert sorted(handled) == ["m-0", "m-2", "m-4"]


@pytest.mark.parametrize("left", [0.0, 4.9])
def test_no_record_is_begun_with_too_little_time_left(left: float) -> None:
    def handle(_: dict[str, Any]) -> bool:
        pytest.fail("begun")

    answer = process_batch(
        _records(3), handle, concurrency=2, seconds_left=lambda: left, worst_case_seconds=5
    )
    assert _failed(answer) == ["m-0", "m-1", "m-2"]


def test_a_record_that_must_not_be_acknowledged_yet_stays_too() -> None:
    answer = process_batch(
        _records(3),
        lambda record: record["messageId"] != "m-1",
        concurrency=2,
        seconds_left=_plenty,
        worst_case_seconds=1,
    )
    assert _failed(answer) == ["m-1"]


def test_what_is_not_begun_is_set_aside_and_failing_to_do_so_changes_nothing() -> None:
    aside = []

    def set_aside(record: dict[str, Any]) -> None:
        aside.append(record["messageId"])
        raise RuntimeError("the queue does not answer")

    answer = process_batch(
        _records(2),
        lambda _: True,
        concurrency=1,
        seconds_left=lambda: 1.0,
        worst_case_seconds=5,
        unstarted=set_aside,
    )
    assert (_failed(answer), aside) == (["m-0", "m-1"], ["m-0", "m-1"])


def test_with_just_enough_time_it_is() -> None:
    answer = process_batch(
        _records(1), lambda _: True, concurrency=1, seconds_left=lambda: 5.0, worst_case_seconds=5
    )
    assert _failed(answer) == []


def test_when_time_runs_out_in_mid_batch_only_the_unstarted_stay() -> None:
    left = iter([9.0, 6.0, 3.0, 0.0])
    answer = process_batch(
        _records(4),
        lambda _: True,
        concurrency=1,
        seconds_left=lambda: next(left),
        worst_case_seconds=5,
    )
    assert _failed(answer) == ["m-2", "m-3"]


def test_as_many_records_run_at_once_as_allowed_and_no_more() -> None:
    """Each pair has to meet, or the barrier breaks; a third would be seen."""
    meeting, lock = threading.Barrier(2), threading.Lock()
    running, most = 0, 0

    def handle(_: dict[str, Any]) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        meeting.wait(timeout=10)
        with lock:
            running -= 1
        meeting.wait(timeout=10)
        return True

    answer = process_batch(_records(6), handle, concurrency=2, seconds_left=_plenty, worst_case_seconds=1)
    assert _failed(answer) == []
    assert most == 2


def test_no_thread_outlives_the_batch() -> None:
    before = threading.active_count()
    process_batch(_records(8), lambda _: True, concurrency=8, seconds_left=_plenty, worst_case_seconds=1)
    assert threading.active_count() == before


def test_an_empty_batch_is_no_failure() -> None:
    assert (
        _failed(process_batch([], lambda _: True, concurrency=5, seconds_left=_plenty, worst_case_seconds=1))
        == []
    )


def test_a_failure_is_logged_with_its_message_and_without_its_payload(log_lines: Lines) -> None:
    def handle(_: dict[str, Any]) -> bool:
        raise ValueError("broken")

    process_batch(
        [{"messageId": "m-1", "body": "payload-marker"}],
        handle,
        concurrency=1,
        seconds_left=_plenty,
        worst_case_seconds=1,
    )
    (line,) = log_lines()
    assert (line["level"], line["message_id"]) == ("ERROR", "m-1")
    assert "payload-marker" not in str(line)
