"""The demo's registrations: the same for the same seed, something of everything, dated as it must be."""

import json
import random
from collections import Counter
from datetime import UTC, date, datetime

import pytest

from registrations.model import InvalidRegistration, When, parse
from sandbox.demo.registrations_plan import (
    DEMO_SECONDS,
    LOOKBACK_DAYS,
    NEIGHBOURS,
    NO_REGISTRATIONS,
    Kind,
    PlannedRegistration,
    RegistrationsPlan,
    expiries,
    notifications,
    plan,
)
from sandbox.downstream import Call

NOON = datetime(2026, 3, 31, 12, tzinfo=UTC)
WHEN = {Kind.LAST_LOOK: When.TOO_LATE, Kind.NOT_DUE: When.NOT_DUE, Kind.PAST: When.PAST}


def planned(
    events: int = 100, duplicates: int = 30, seed: int = 1, now: datetime = NOON
) -> RegistrationsPlan:
    chance = random.Random(seed)  # noqa: S311 - repeatable
    return plan("A", events=events, duplicates=duplicates, chance=chance, now=now)


def registration(kind: Kind) -> PlannedRegistration:
    return PlannedRegistration(id="A-0001", kind=kind, effective_date="2026-03-01")


def call(of: PlannedRegistration) -> Call:
    return Call(at=0, method="POST", path="/", key=of.key, attempt="1", body=of.body.encode())


def test_the_same_seed_plans_the_same_storm_and_another_seed_another() -> None:
    assert planned(seed=3) == planned(seed=3)
    assert planned(seed=3) != planned(seed=4)


@pytest.mark.parametrize("events", [1, 2, 12, 100, 101])
@pytest.mark.parametrize("duplicates", [0, 30, 100])
def test_the_sums_are_right(events: int, duplicates: int) -> None:
    storm = planned(events, duplicates)

    listed = [*storm.events, *storm.bystanders]
    assert len({each.id for each in listed}) == len(listed)
    assert len(storm.events) == events
    assert len(storm.overlapping) + len(storm.later) == round(events * duplicates / 100)
    assert {*storm.overlapping, *storm.later} <= {*storm.events}


@pytest.mark.parametrize("events", [1, 2, 5, 30, 100])
def test_one_worker_is_killed_over_the_first_registration_beside_good_ones(events: int) -> None:
    storm = planned(events)

    assert storm.victim.kind is Kind.KILLED
    assert Kind.KILLED not in {each.kind for each in storm.events[1:]}
    assert storm.first_document == [each.entry for each in storm.events[: 1 + NEIGHBOURS]]
    if events == 100:
        assert {each.kind for each in storm.events[1 : 1 + NEIGHBOURS]} == {Kind.ACCEPTED}


def test_every_kind_occurs() -> None:
    storm = planned(40)
    assert {each.kind for each in (*storm.events, *storm.bystanders)} == set(Kind)


def test_the_document_lists_all_and_some_that_are_no_registrations() -> None:
    storm = planned()
    good = [parse(entry) for entry in storm.document[: -len(NO_REGISTRATIONS)]]

    assert [each.id for each in good] == [each.id for each in (*storm.events, *storm.bystanders)]
    for entry in NO_REGISTRATIONS:
        with pytest.raises(InvalidRegistration):
            parse(entry)


def holds(storm: RegistrationsPlan, now: datetime) -> None:
    """Each is looked at as its kind says, for as long as a demo lasts."""
    for each in (*storm.events, *storm.bystanders):
        for seconds in (0, DEMO_SECONDS):
            when = parse(each.entry).when(int(now.timestamp()) + seconds, lookback=LOOKBACK_DAYS * 86_400)
            assert when is WHEN.get(each.kind, When.DUE), each


@pytest.mark.parametrize("now", [NOON.replace(hour=0, second=1), NOON, NOON.replace(hour=22, minute=49)])
def test_each_is_looked_at_as_its_kind_says(now: datetime) -> None:
    storm = planned(now=now)

    assert Kind.LAST_LOOK in {each.kind for each in storm.events}
    holds(storm, now)


@pytest.mark.parametrize("now", [NOON.replace(hour=22, minute=50), NOON.replace(hour=23, minute=59)])
def test_in_the_last_hour_of_a_day_nothing_can_be_at_its_last_look(now: datetime) -> None:
    storm = planned(now=now)

    assert Kind.LAST_LOOK not in {each.kind for each in storm.events}
    holds(storm, now)


def test_its_key_and_its_copy_are_those_of_the_shipped_code() -> None:
    planned_one = registration(Kind.ACCEPTED)
    shipped = parse(planned_one.entry)

    assert shipped.effective_on == date(2026, 3, 1)
    assert planned_one.key == shipped.key
    assert planned_one.body == json.dumps(shipped.described())


def test_events_that_are_to_be_refused_say_why() -> None:
    storm = planned()
    reasons = Counter(reason for _, reason in storm.refused_events)

    assert reasons == {"not-due": 2, "too-late": 2, "invalid-effectiveDate": 1}
    assert {detail["recordId"] for detail in storm.refused_details} == {
        id_ for id_, _ in storm.refused_events
    }


@pytest.mark.parametrize(
    ("kind", "statuses", "effects"),
    [
        (Kind.ACCEPTED, [200, 200], 2),
        (Kind.KILLED, [200, 200], 2),
        (Kind.SLOW, [200, 200], 2),
        (Kind.BUSY, [503, 200], 1),
        (Kind.LATE, [200, 200], 2),
        (Kind.DROPPED, [200, 200], 2),
        (Kind.REJECTED, [422, 422], 0),
    ],
)
def test_the_registry_answers_as_the_kind_says(kind: Kind, statuses: list[int], effects: int) -> None:
    due = registration(kind)
    given = [expiries({due.id: due}, call(due), nth) for nth in (1, 2)]

    assert [answer.status for answer in given] == statuses
    assert sum(answer.takes_effect for answer in given) == effects


def test_only_the_notification_that_is_to_fail_fails() -> None:
    given = Counter(
        notifications({"A-0001": registration(kind)}, call(registration(kind)), 1).status for kind in Kind
    )
    assert given == {200: len(Kind) - 1, 500: 1}
