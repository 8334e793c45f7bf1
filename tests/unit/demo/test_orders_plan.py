"""The storm over orders as it is planned: who asks for what how often, and how both providers answer."""

import json
import random
from collections import defaultdict

import pytest

from orders.body import MAX_ITEMS, order_in
from orders.idempotency_key import is_key
from orders.problem import Kind as ProblemKind
from orders.problem import Problem
from sandbox.demo.orders_callers import CALLERS
from sandbox.demo.orders_plan import (
    MOST_ITEMS,
    NEIGHBOURS,
    ONLY_IN_CHAOS,
    REASONS,
    Kind,
    OrdersPlan,
    PlannedOrder,
    Task,
    charges,
    plan,
    provisions,
)
from sandbox.demo.orders_refusals import REFUSED, prying
from sandbox.downstream import Answer, Call


def planned(events: int = 200, duplicates: int = 30, seed: int = 1) -> OrdersPlan:
    chance = random.Random(seed)  # noqa: S311 - repeatable
    return plan(events=events, duplicates=duplicates, chance=chance)


def order(kind: Kind) -> PlannedOrder:
    return PlannedOrder(id="O-0001", kind=kind, caller="ann", key="order-0001", items=2)


def call(content: dict[str, str]) -> Call:
    return Call(at=0, method="POST", path="/", key="k", attempt="1", body=json.dumps(content).encode())


def payment(of: PlannedOrder, nth: int) -> Answer:
    return charges({of.id: of}, call({"token": of.id}), nth)


def item(of: PlannedOrder, number: int, nth: int) -> Answer:
    return provisions({of.id: of}, call({"sku": f"{of.id}.{number}"}), nth)


def test_the_same_seed_plans_the_same_storm_and_another_seed_another() -> None:
    assert planned(seed=3) == planned(seed=3)
    assert planned(seed=3) != planned(seed=4)


@pytest.mark.parametrize("events", [1, 2, 12, 100, 101])
@pytest.mark.parametrize("duplicates", [0, 30, 100])
def test_the_sums_are_right(events: int, duplicates: int) -> None:
    storm = planned(events, duplicates)

    assert len({each.id for each in storm.events}) == len(storm.events) == events
    assert len(storm.overlapping) + len(storm.later) == round(events * duplicates / 100)
    chosen = {*storm.overlapping, *storm.later, *storm.contested, *storm.altered, *storm.clumsy}
    assert chosen | {*storm.pried_into} <= {*storm.events}


def test_every_kind_occurs_and_every_conduct_does() -> None:
    storm = planned(40)

    assert {each.kind for each in storm.events} == set(Kind) - ONLY_IN_CHAOS
    assert all((storm.overlapping, storm.later, storm.contested, storm.altered, storm.clumsy))
    assert storm.pried_into


def test_one_worker_is_killed_over_the_first_order_among_good_ones() -> None:
    first = planned().killed_and_neighbours

    assert [each.kind for each in first] == [Kind.KILLED, *[Kind.ACCEPTED] * NEIGHBOURS]


@pytest.mark.parametrize("events", [2, 5, 12, 40])
def test_what_is_to_fail_comes_next_and_is_not_killed(events: int) -> None:
    storm = planned(events)
    after = storm.events[len(storm.killed_and_neighbours) :]

    assert {*storm.events} - {*storm.failing} == {each for each in storm.events if each.reason is None}
    assert after[: len(storm.failing)] == storm.failing


def test_keys_are_shared_by_callers_but_not_by_a_callers_orders() -> None:
    users = defaultdict(list)
    for each in planned().events:
        users[each.key].append(each.caller)

    assert all(is_key(key) for key in users)
    assert all(len(callers) == len({*callers}) for callers in users.values())
    assert {*CALLERS} in map(set, users.values())


def test_nobody_else_uses_a_key_that_is_pried_into() -> None:
    storm = planned()
    for each in storm.pried_into:
        assert [other.id for other in storm.events if other.key == each.key] == [each.id]
        assert {refused.caller for refused in prying(each)} == {*CALLERS} - {each.caller}


def test_bodies_are_orders_of_the_shipped_code_and_broken_ones_are_not() -> None:
    assert MOST_ITEMS == MAX_ITEMS
    for each in planned(40).events:
        assert len(order_in(each.body.encode())["items"]) == each.items
        assert order_in(each.other_body.encode()) != order_in(each.body.encode())
        with pytest.raises(Problem) as problem:
            order_in(each.broken_body.encode())
        assert problem.value.kind is ProblemKind.INVALID


def test_what_must_be_refused_names_problems_of_the_shipped_code() -> None:
    kinds = {kind.type.rpartition(":")[2]: kind.status for kind in ProblemKind}

    for refused in REFUSED:
        assert refused.problem is None or kinds[refused.problem] == refused.status


@pytest.mark.parametrize(
    ("kind", "statuses", "effects"),
    [
        (Kind.ACCEPTED, [200, 200], 2),
        (Kind.KILLED, [200, 200], 2),
        (Kind.STOPPED, [200, 200], 2),
        (Kind.SLOW, [200, 200], 2),
        (Kind.BUSY, [503, 200], 1),
        (Kind.LATE, [200, 200], 2),
        (Kind.DROPPED, [200, 200], 2),
        (Kind.REJECTED, [422, 422], 0),
        (Kind.ITEM_REJECTED, [200, 200], 2),
    ],
)
def test_the_payment_provider_answers_as_the_kind_says(kind: Kind, statuses: list[int], effects: int) -> None:
    given = [payment(order(kind), nth) for nth in (1, 2)]

    assert [answer.status for answer in given] == statuses
    assert sum(answer.takes_effect for answer in given) == effects


@pytest.mark.parametrize(
    ("kind", "statuses", "effects"),
    [
        (Kind.ACCEPTED, [200, 200], 2),
        (Kind.REJECTED, [200, 200], 2),
        (Kind.ITEM_BUSY, [503, 200], 1),
        (Kind.ITEM_LATE, [200, 200], 2),
        (Kind.ITEM_DROPPED, [200, 200], 2),
        (Kind.ITEM_REJECTED, [422, 422], 0),
        (Kind.ITEM_UNHEARD, [200, 200], 2),
    ],
)
def test_only_the_odd_item_is_answered_as_the_kind_says(
    kind: Kind, statuses: list[int], effects: int
) -> None:
    given = [item(order(kind), 0, nth) for nth in (1, 2)]

    assert [answer.status for answer in given] == statuses
    assert sum(answer.takes_effect for answer in given) == effects
    assert item(order(kind), 1, 1) == Answer(body=b"k 1")


def test_only_an_answer_that_never_comes_stays_dropped() -> None:
    assert [item(order(Kind.ITEM_UNHEARD), 0, nth).drop for nth in (1, 9)] == [True, True]
    assert [item(order(Kind.ITEM_DROPPED), 0, nth).drop for nth in (1, 2)] == [True, False]


@pytest.mark.parametrize("kind", sorted(set(Kind) - REASONS.keys()))
def test_what_succeeds_has_done_all_of_its_tasks(kind: Kind) -> None:
    assert order(kind).reason is None
    assert {order(kind).payment, order(kind).item(0), order(kind).item(1)} == {Task.DONE}
