"""One registration that an event tells of: keyed as the schedule keys it, and never lost."""

import json
from contextlib import suppress

import pytest
from botocore.exceptions import ClientError

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Semantics, State
from registrations.model import LAST_LOOK
from registrations.processor import Unfinished
from tests.unit.aws import refusal
from tests.unit.conftest import Lines
from tests.unit.registrations.desk import DLQ_URL, EVENT, LOOKBACK, REGISTRATION, TAKEOVER, Desk, event
from tests.unit.registrations.metrics import counted

DUE_AT = REGISTRATION.due_at


def test_an_event_expires_its_registration(desk: Desk, metric_lines: Lines) -> None:
    assert desk.take() == {"executed": 1}
    assert (desk.registry.expired, desk.holders.told) == ([("REG-1", 1)], [("REG-1", 1)])
    assert desk.record.state is State.DONE
    assert counted(metric_lines(), "Registrations") == {"executed": 1}


def test_it_is_enough_that_an_event_tells_of_it(desk: Desk) -> None:
    """No document is read."""
    desk.listed.raises = ValueError("not to be read")
    assert desk.take() == {"executed": 1}


@pytest.mark.parametrize("date", ["2027-01-15", "20270115"])
def test_an_event_after_the_schedule_finds_it_done(date: str, desk: Desk) -> None:
    desk.listed.registrations = [REGISTRATION]
    assert desk.run() == {"executed": 1}
    assert desk.take({**EVENT, "effectiveDate": date}) == {"skipped-completed": 1}
    assert len(desk.registry.expired) == 1


def test_the_schedule_after_an_event_finds_it_done(desk: Desk) -> None:
    desk.listed.registrations = [REGISTRATION]
    assert desk.take() == {"executed": 1}
    assert desk.run() == {"skipped-completed": 1}
    assert len(desk.registry.expired) == 1


def test_the_schedule_in_the_middle_of_an_event_skips_it(desk: Desk) -> None:
    desk.listed.registrations = [REGISTRATION]
    runs: list[dict[str, int]] = []
    desk.registry.meanwhile = lambda: runs.append(desk.run())
    assert desk.take() == {"executed": 1}
    assert (runs, len(desk.registry.expired)) == ([{"skipped-in-flight": 1}], 1)


def test_an_event_while_somebody_is_at_it_comes_again(desk: Desk, metric_lines: Lines) -> None:
    """Whoever is at it may have died, and nobody else may know of this registration."""
    desk.guard.claim(REGISTRATION.key)
    with pytest.raises(Unfinished, match="skipped-in-flight"):
        desk.take()
    assert desk.registry.expired == []
    assert counted(metric_lines(), "Registrations") == {"skipped-in-flight": 1}


def test_and_takes_over_when_it_does(repeatable: Desk) -> None:
    repeatable.guard.claim(REGISTRATION.key)
    with pytest.raises(Unfinished):
        repeatable.take()
    repeatable.now = TAKEOVER
    assert repeatable.take() == {"executed": 1}


@pytest.mark.parametrize("error", [NotApplied(), OutcomeUnknown()], ids=repr)
def test_what_an_event_leaves_unfinished_comes_again(
    error: Exception, repeatable: Desk, metric_lines: Lines
) -> None:
    repeatable.registry.raises = error
    with pytest.raises(Unfinished, match=REGISTRATION.key):
        repeatable.take()
    assert repeatable.queue.sent == []
    repeatable.registry.raises = None
    assert repeatable.take() == {"executed": 1}
    assert repeatable.registry.expired == [("REG-1", 1), ("REG-1", 2)]


def test_a_store_that_does_not_answer_lets_the_event_come_again(desk: Desk) -> None:
    desk.store.faults.refuse("GetParametersByPath", "AccessDeniedException", calls=(1, 2))
    with pytest.raises(Unfinished):
        desk.take()
    assert desk.take() == {"executed": 1}


def test_a_rejected_one_is_told_with_its_reason(desk: Desk, metric_lines: Lines) -> None:
    desk.registry.raises = Rejected()
    assert desk.take() == {"dead": 1}
    assert desk.queue.reasons == ["rejected"]
    assert desk.take() == {"dead": 1}
    assert (len(desk.registry.expired), len(desk.queue.sent)) == (1, 1)
    assert counted(metric_lines(), "DeadLettered") == {"rejected": 1}


def test_a_rejected_one_whose_copy_is_not_taken_comes_again(desk: Desk) -> None:
    desk.registry.raises = Rejected()
    desk.queue.failures.append(refusal("OverLimit", "SendMessage"))
    with pytest.raises(Unfinished):
        desk.take()
    assert desk.take() == {"dead": 1}
    assert desk.queue.reasons == ["rejected"]


@pytest.mark.parametrize("seed", range(10))
def test_a_rejected_one_that_listings_do_not_show_yet_comes_again_until_it_is_told(seed: int) -> None:
    """They may lag behind, and nobody else may know of this registration."""
    desk = Desk(Semantics.IDEMPOTENT_DOWNSTREAM, seed=seed)
    desk.registry.raises = Rejected()
    desk.registry.meanwhile = lambda: setattr(desk.store, "staleness", 3_600)
    for _ in range(20):
        with suppress(Unfinished):
            assert desk.take() == {"dead": 1}
            break
    assert set(desk.queue.reasons) == {"rejected"}
    assert desk.registry.expired == [("REG-1", 1)]


SECONDS = {
    "the second before its day": (DUE_AT - 1, "not-due"),
    "the second after the last look": (DUE_AT + LOOKBACK + LAST_LOOK + 1, "too-late"),
    "years later": (DUE_AT + 100 * LOOKBACK, "too-late"),
}


@pytest.mark.parametrize("second", SECONDS)
def test_an_event_out_of_time_is_dead_and_leaves_no_claim(
    second: str, desk: Desk, metric_lines: Lines, log_lines: Lines
) -> None:
    desk.now, reason = SECONDS[second]
    assert desk.take() == {"dead": 1}
    (copy,) = desk.queue.sent
    assert (copy["url"], json.loads(copy["body"])) == (DLQ_URL, event())
    assert copy["attributes"] == {
        "reason": {"DataType": "String", "StringValue": reason},
        "firstSeenAt": {"DataType": "String", "StringValue": f"{desk.now}000"},
    }
    assert (desk.registry.expired, desk.store.standing()) == ([], {})
    assert counted(metric_lines(), "DeadLettered") == {reason: 1}
    (line,) = log_lines()
    assert (line["message"], line["reason"], line["event_id"]) == ("dead-lettered", reason, "e-1")


@pytest.mark.parametrize("second", [DUE_AT, DUE_AT + LOOKBACK])
def test_from_the_first_second_of_its_day_to_the_last_of_the_lookback_it_is_expired(
    second: int, desk: Desk
) -> None:
    desk.now = second
    assert desk.take() == {"executed": 1}


@pytest.mark.parametrize("second", [DUE_AT + LOOKBACK + 1, DUE_AT + LOOKBACK + LAST_LOOK])
def test_on_the_last_look_an_event_is_told_of_as_the_schedule_does(second: int, desk: Desk) -> None:
    desk.now, desk.listed.registrations = second, [REGISTRATION]
    assert desk.take() == {"dead": 1}
    assert (desk.record.state, desk.queue.reasons) == (State.FAILED, ["too-late"])
    assert desk.run() == {"dead": 1}
    assert len(desk.queue.sent) == 1


INVALID: dict[str, tuple[object, str]] = {
    "no object": ("REG-1", "invalid-registration"),
    "a list": ([EVENT], "invalid-registration"),
    "no id": ({"effectiveDate": "2027-01-15"}, "invalid-recordId"),
    "a number for an id": ({**EVENT, "recordId": 1}, "invalid-recordId"),
    "no date": ({"recordId": "REG-1"}, "invalid-effectiveDate"),
    "another form of date": ({**EVENT, "effectiveDate": "15.01.2027"}, "invalid-effectiveDate"),
}


@pytest.mark.parametrize("wrong", INVALID)
def test_what_is_no_registration_is_dead_as_it_came_with_the_field(
    wrong: str, desk: Desk, metric_lines: Lines
) -> None:
    detail, reason = INVALID[wrong]
    assert desk.take(detail) == {"dead": 1}
    assert desk.queue.reasons == [reason]
    assert json.loads(desk.queue.sent[0]["body"]) == event(detail)
    assert desk.store.standing() == {}
    assert counted(metric_lines(), "DeadLettered") == {reason: 1}


def test_an_event_without_detail_is_dead(desk: Desk) -> None:
    bare = {name: value for name, value in event().items() if name != "detail"}
    assert desk.processor.take(bare) == {"dead": 1}
    assert desk.queue.reasons == ["invalid-registration"]


@pytest.mark.parametrize("detail", [{"recordId": ""}, EVENT], ids=["invalid", "not due"])
def test_an_event_whose_copy_is_not_taken_comes_again(
    detail: object, desk: Desk, metric_lines: Lines
) -> None:
    desk.now = DUE_AT - 1
    desk.queue.failures.append(refusal("OverLimit", "SendMessage"))
    with pytest.raises(ClientError):
        desk.take(detail)
    assert metric_lines() == []
    assert desk.take(detail) == {"dead": 1}


def test_other_fields_of_the_event_do_not_matter(desk: Desk) -> None:
    assert desk.take({**EVENT, "more": 1}, id="e-1", time="2027-01-15T00:00:00Z") == {"executed": 1}
    assert desk.take(EVENT, id="e-2") == {"skipped-completed": 1}
