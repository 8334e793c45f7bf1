"""The demo's charges: the same for the same seed, something of everything, and bad as their kind says."""

import json
import random
from collections import Counter

import pytest

from charges import charge_due_event
from charges.model import InvalidCharge
from sandbox.demo.charges_plan import (
    NEIGHBOURS,
    REFUSED,
    ChargesPlan,
    Kind,
    PlannedCharge,
    debits,
    notifications,
    plan,
)
from sandbox.downstream import Call


def planned(events: int = 100, duplicates: int = 30, seed: int = 1) -> ChargesPlan:
    return plan("A", events=events, duplicates=duplicates, chance=random.Random(seed))  # noqa: S311 - repeatable


def charge(kind: Kind) -> PlannedCharge:
    return PlannedCharge(id="A-0001", kind=kind)


def call(of: PlannedCharge) -> Call:
    return Call(at=0, method="POST", path="/", key=of.id, attempt="1", body=of.body.encode())


def test_the_same_seed_plans_the_same_storm_and_another_seed_another() -> None:
    assert planned(seed=3) == planned(seed=3)
    assert planned(seed=3) != planned(seed=4)


@pytest.mark.parametrize("events", [1, 2, 12, 100, 101])
@pytest.mark.parametrize("duplicates", [0, 30, 100])
def test_the_sums_are_right(events: int, duplicates: int) -> None:
    storm = planned(events, duplicates)

    assert len({each.id for each in storm.events}) == len(storm.events) == events
    again = round(events * duplicates / 100)
    assert len(storm.overlapping) + len(storm.later) == again
    assert storm.deliveries == events + again + len(storm.mismatched)
    assert {*storm.overlapping, *storm.later, *storm.mismatched} <= {*storm.events}


@pytest.mark.parametrize("events", [1, 2, 5, 30, 100])
def test_one_worker_is_killed_over_the_first_charge(events: int) -> None:
    first, *others = planned(events).events

    assert first.kind is Kind.KILLED
    assert Kind.KILLED not in {each.kind for each in others}


def test_every_kind_occurs() -> None:
    assert {each.kind for each in planned(30).events} == set(Kind)


def test_only_good_charges_come_again_with_another_amount() -> None:
    storm = planned()

    assert storm.mismatched
    for each in storm.mismatched:
        original, other = charge_due_event.parse(each.body), charge_due_event.parse(each.mismatch)
        assert original.id == other.id
        assert original.fingerprint != other.fingerprint


@pytest.mark.parametrize("kind", Kind)
def test_a_body_is_refused_for_the_reason_that_its_kind_expects(kind: Kind) -> None:
    if kind not in REFUSED:
        assert charge_due_event.parse(charge(kind).body).id == "A-0001"
        return
    with pytest.raises(InvalidCharge) as refused:
        charge_due_event.parse(charge(kind).body)
    assert f"invalid-{refused.value.field}" == REFUSED[kind]


def test_bodies_differ_from_charge_to_charge() -> None:
    storm = planned()
    assert len({each.body for each in storm.events}) == len(storm.events)


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
def test_the_bank_answers_as_the_kind_says(kind: Kind, statuses: list[int], effects: int) -> None:
    due = charge(kind)
    given = [debits({due.id: due}, call(due), nth) for nth in (1, 2)]

    assert [answer.status for answer in given] == statuses
    assert sum(answer.takes_effect for answer in given) == effects


def test_only_the_notification_that_is_to_fail_fails() -> None:
    good = [kind for kind in Kind if kind not in REFUSED]
    given = Counter(notifications({"A-0001": charge(kind)}, call(charge(kind)), 1).status for kind in good)

    assert given == {200: len(good) - 1, 500: 1}
    assert json.loads(charge(Kind.NOT_NOTIFIED).body)["chargeId"] == "A-0001"


def test_what_must_be_taken_over_comes_early_but_after_the_neighbours_of_the_killed() -> None:
    kinds = [each.kind for each in planned().events]
    unheard = [place for place, kind in enumerate(kinds) if kind in (Kind.LATE, Kind.DROPPED)]

    assert unheard == list(range(1 + NEIGHBOURS, 1 + NEIGHBOURS + len(unheard)))
