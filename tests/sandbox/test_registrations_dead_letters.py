"""What can't be expired is in the dead-letter queue with its reason, and the record says that it is there."""

import json
from dataclasses import replace
from typing import Any

from sandbox.downstream import Answer
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM, begun_early, under, under_both
from tests.sandbox.deployed import PAYLOAD_MARKER, eventually
from tests.sandbox.registrations import DONE, DROPPED, REJECTED, Due, End, Registrations

FAILED = End(effects=0, steps=("IN_PROGRESS", "FAILED", "REPORTED"), reasons=("rejected",))


@under_both
def test_a_rejected_registration_is_told_of_once(registrations: Registrations) -> None:
    due = registrations.due(REJECTED)

    assert registrations.take(due) == {"dead": 1}
    assert registrations.end(due) == FAILED
    assert registrations.take(due) == {"dead": 1}
    assert registrations.end(due) == FAILED
    assert len(registrations.calls(due)) == 1


@under(AT_MOST_ONCE)
def test_an_unheard_expiry_is_in_doubt_and_told_of_once(registrations: Registrations) -> None:
    due = registrations.due(DROPPED)
    in_doubt = End(effects=1, steps=("IN_PROGRESS", "IN_DOUBT", "REPORTED"), reasons=("in-doubt",))

    for _ in range(2):
        assert registrations.take(due) == {"dead": 1}
        assert registrations.end(due) == in_doubt
    assert len(registrations.calls(due)) == 1


@under(IDEMPOTENT_DOWNSTREAM)
def test_an_unheard_expiry_is_repeated_under_the_same_key(registrations: Registrations) -> None:
    due = registrations.due(DROPPED, Answer())

    assert registrations.take(due)["errorType"] == "Unfinished"
    assert registrations.take(due) == {"executed": 1}
    assert registrations.end(due) == replace(DONE, steps=("IN_PROGRESS", "RELEASED", "IN_PROGRESS", "DONE"))
    assert len(registrations.calls(due)) == 2


@under_both
def test_a_refused_dead_letter_is_told_by_the_next_one_who_comes_by(registrations: Registrations) -> None:
    due = registrations.due(REJECTED)
    refused = registrations.faults.error(
        "SendMessage", "AccessDenied", status=403, body=calls_to_aws.dead_letter(due.detail["recordId"])
    )

    assert registrations.take(due)["errorType"] == "Unfinished"
    assert refused.fired() == 1
    assert registrations.end(due) == replace(FAILED, steps=FAILED.steps[:2], reasons=())
    assert registrations.take(due) == {"dead": 1}
    assert registrations.end(due) == FAILED


@under_both
def test_a_dead_letter_that_was_not_heard_of_is_sent_twice_and_marked_once(
    registrations: Registrations,
) -> None:
    due = registrations.due(REJECTED)
    lost = registrations.faults.lost_answer(
        "SendMessage", body=calls_to_aws.dead_letter(due.detail["recordId"])
    )

    assert registrations.take(due) == {"dead": 1}
    assert registrations.end(due) == replace(FAILED, reasons=("rejected", "rejected"))
    assert lost.fired() == 1


@under_both
def test_an_event_that_tells_of_nothing_to_expire_is_dead_lettered_verbatim(
    registrations: Registrations,
) -> None:
    good = registrations.due()
    day = good.detail["effectiveDate"]
    wrong: dict[str, Any] = {
        "not-due": registrations.due(days_ago=-2).detail,
        "too-late": registrations.due(days_ago=40).detail,
        "invalid-recordId": {"effectiveDate": day, "note": f"{PAYLOAD_MARKER} {good.pk}"},
        "invalid-effectiveDate": {"recordId": good.detail["recordId"], "effectiveDate": "someday"},
        "invalid-registration": [good.pk],
    }
    events = {reason: {**good.event, "detail": detail} for reason, detail in wrong.items()}
    events["invalid-event"] = {"detail-type": "SomethingElse", "detail": good.detail}

    for reason, event in events.items():
        assert registrations.invoke(event) == {"dead": 1}
        (letter,) = registrations.letters(replace(good, body=json.dumps(event)))
        assert letter.reason == reason
    assert registrations.end(good) == End(effects=0, steps=())


def event_that_nobody_can_take(registrations: Registrations) -> Due:
    """Nobody hears of its claim, and nobody may take it over yet."""
    due = registrations.due()
    registrations.faults.lost_answer("PutParameter", body=calls_to_aws.parameter(due, 1), times=2)
    registrations.tell(due)
    return due


@under_both
@begun_early(event_that_nobody_can_take)
def test_an_event_that_is_invoked_in_vain_three_times_ends_in_the_dead_letter_queue(
    registrations: Registrations, begun: Due
) -> None:
    (failure,) = eventually(lambda: registrations.failures(begun), every=0.5)

    assert failure["responsePayload"]["errorType"] == "Unfinished"
    assert registrations.end(begun) == End(effects=0, steps=("IN_PROGRESS",))
