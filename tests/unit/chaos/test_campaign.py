"""The rounds of chaos: every use of every operation meets every fault, on events of its own."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from sandbox.chaos import campaign, charges, ingestion, orders, registrations
from sandbox.chaos.campaign import AT_RANDOM, Campaign, Order
from sandbox.chaos.faults import Fault
from sandbox.chaos.operation import Arm, Operation
from sandbox.demo.ingestion_plan import Kind, PlannedEvent, kinds

OPERATIONS: dict[str, Sequence[Operation]] = {
    "ingestion": ingestion.OPERATIONS,
    "orders": orders.OPERATIONS,
    **{f"charges, {semantics}": some for semantics, some in charges.OPERATIONS.items()},
    **{f"registrations, {semantics}": some for semantics, some in registrations.OPERATIONS.items()},
}


def drawn(operations: Sequence[Operation] = ingestion.OPERATIONS, **asked: Any) -> Campaign[PlannedEvent]:
    def make(number: int, kind: Kind) -> PlannedEvent:
        return PlannedEvent(id=f"A-{number:04}", kind=kind)

    order = Order(**{"events": 3, "seed": 1, **asked})
    chance = random.Random(order.seed)  # noqa: S311 - a plan to repeat, not a secret
    return campaign.draw(operations, make, kinds, order=order, chance=chance)


@pytest.mark.parametrize("operations", OPERATIONS.values(), ids=OPERATIONS)
def test_every_use_of_an_operation_meets_every_fault_once(operations: Sequence[Operation]) -> None:
    names = Counter(each.name for each in drawn(operations).rounds)

    assert names == Counter((str(operation), str(fault)) for operation in operations for fault in Fault)
    assert set(names.values()) == {1}


def test_no_two_rounds_share_an_event() -> None:
    ids = Counter(event.id for each in drawn().all_rounds for event in each.events)
    assert set(ids.values()) == {1}


def test_each_round_has_a_duplicate_at_once_and_one_later() -> None:
    found = drawn()
    for each in found.all_rounds:
        assert set(each.events) & set(found.overlapping)
        assert set(each.events) & set(found.later)


def test_where_one_event_follows_the_other_a_round_has_one() -> None:
    for each in drawn(charges.OPERATIONS["at-most-once"]).rounds:
        assert len(each.events) == (1 if each.operation.arm is Arm.IN_TURN else 3)


def test_only_the_rounds_asked_for_are_drawn() -> None:
    asked = ("(claim): response lost", "(renew): slow")
    assert [each.name for each in drawn(only=asked).all_rounds] == [
        ("UpdateItem (claim)", "response lost"),
        ("UpdateItem (renew)", "slow"),
    ]
    assert [each.name for each in drawn(only=("at random",)).all_rounds] == [AT_RANDOM]


def test_the_same_seed_plans_the_same() -> None:
    assert drawn(seed=4).events == drawn(seed=4).events
    assert drawn(seed=4).at_random != drawn(seed=5).at_random
