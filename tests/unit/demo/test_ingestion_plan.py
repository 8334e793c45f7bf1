"""The demo's storm: the same for the same seed, with something of everything, and counted right."""

import json
import random
from collections import Counter

import pytest

from sandbox.demo.ingestion_plan import ONLY_IN_CHAOS, TOO_LARGE_BYTES, Kind, PlannedEvent, answers, plan
from sandbox.demo.plan import Plan
from sandbox.downstream import Call


def planned(events: int = 100, duplicates: int = 30, seed: int = 1) -> Plan[PlannedEvent]:
    return plan("A", events=events, duplicates=duplicates, chance=random.Random(seed))  # noqa: S311 - repeatable


def kinds(storm: Plan[PlannedEvent]) -> Counter[Kind]:
    return Counter(event.kind for event in storm.events)


def test_the_same_seed_plans_the_same_storm_and_another_seed_another() -> None:
    assert planned(seed=3) == planned(seed=3)
    assert planned(seed=3) != planned(seed=4)


@pytest.mark.parametrize("events", [2, 3, 12, 14, 100, 101])
@pytest.mark.parametrize("duplicates", [0, 30, 50, 100])
def test_the_sums_are_right(events: int, duplicates: int) -> None:
    storm = planned(events, duplicates)

    assert len({event.id for event in storm.events}) == len(storm.events) == events
    again = round(events * duplicates / 100)
    assert len(storm.overlapping) + len(storm.later) == again
    assert storm.deliveries == events + again
    assert {*storm.overlapping, *storm.later} <= {*storm.events}


def test_half_of_the_duplicates_overlap_and_most_of_all_with_those_that_take_long() -> None:
    storm = planned()

    assert len(storm.overlapping) == len(storm.later) == 15
    long = {event for event in storm.events if event.kind in (Kind.SLOW, Kind.LATE)}
    assert long < {*storm.overlapping}


@pytest.mark.parametrize("events", [14, 50, 200])
def test_every_kind_occurs(events: int) -> None:
    assert set(kinds(planned(events))) == set(Kind) - ONLY_IN_CHAOS


@pytest.mark.parametrize("events", [2, 5, 12])
def test_a_small_storm_has_no_kind_twice_but_the_accepted(events: int) -> None:
    found = kinds(planned(events))

    assert found.pop(Kind.ACCEPTED) >= events // 2
    assert set(found.values()) == {1}


def test_bodies_are_what_their_kind_says() -> None:
    bodies = {kind: PlannedEvent(id="A-0001", kind=kind).body for kind in Kind}

    with pytest.raises(json.JSONDecodeError):
        json.loads(bodies.pop(Kind.NOT_JSON))
    assert "eventId" not in json.loads(bodies.pop(Kind.NO_KEY))
    assert len(bodies.pop(Kind.TOO_LARGE)) > TOO_LARGE_BYTES
    assert {json.loads(body)["eventId"] for body in bodies.values()} == {"A-0001"}


def test_bodies_differ_from_event_to_event() -> None:
    storm = planned()
    assert len({event.body for event in storm.events}) == len(storm.events)


@pytest.mark.parametrize(
    ("kind", "statuses", "effects"),
    [
        (Kind.ACCEPTED, [200, 200, 200], 3),
        (Kind.SLOW, [200, 200, 200], 3),
        (Kind.BUSY, [503, 503, 200], 1),
        (Kind.LATE, [200, 200, 200], 3),
        (Kind.REJECTED, [422, 422, 422], 0),
        (Kind.OUT_OF_ORDER, [503, 503, 503], 0),
        (Kind.UNHEARD, [200, 200, 200], 3),
    ],
)
def test_the_downstream_answers_as_the_kind_says(kind: Kind, statuses: list[int], effects: int) -> None:
    event = PlannedEvent(id="A-0001", kind=kind)
    call = Call(at=0, method="POST", path="/", key="any", attempt="1", body=event.body.encode())
    given = [answers({event.id: event}, call, nth) for nth in (1, 2, 3)]

    assert [answer.status for answer in given] == statuses
    assert sum(answer.takes_effect for answer in given) == effects


def test_an_unheard_event_is_never_answered() -> None:
    event = PlannedEvent(id="A-0001", kind=Kind.UNHEARD)
    assert all(event.answer(nth).drop for nth in (1, 2, 5))


def test_only_the_first_answer_of_a_late_event_is_late() -> None:
    event = PlannedEvent(id="A-0001", kind=Kind.LATE)
    assert event.answer(1).delay_seconds > 3 > event.answer(2).delay_seconds == 0
