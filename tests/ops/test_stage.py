"""Which stacks are a stage's."""

import pytest

from ops.stage import find
from ops.trouble import Trouble
from tests.ops.deployed import Stacks

NAMES = [
    "dev-charges",
    "dev-ingestion",
    "prod-ingestion",
    "sandbox-ingestion-at-most-once",
    "sandbox-ingestion-idempotent-downstream",
    "sandbox-orders",
    "dev-chargesback",
    "other",
]
STACKS = Stacks({name: {"QueueUrl": name} for name in NAMES})


@pytest.mark.parametrize(
    ("stage", "found"),
    [
        ("dev", ["dev-ingestion", "dev-charges"]),
        ("prod", ["prod-ingestion"]),
        (
            "sandbox",
            [
                "sandbox-ingestion-at-most-once",
                "sandbox-ingestion-idempotent-downstream",
                "sandbox-orders",
            ],
        ),
    ],
)
def test_a_stage_has_the_stacks_of_its_name_on_whatever_page(stage: str, found: list[str]) -> None:
    assert [stack.name for stack in find(STACKS, stage=stage)] == found


def test_a_stack_that_is_named_needs_no_stage() -> None:
    (stack,) = find(STACKS, stage="nowhere", names=["sandbox-ingestion-at-most-once"])
    assert (stack.workload, stack.outputs) == ("ingestion", {"QueueUrl": "sandbox-ingestion-at-most-once"})


def test_a_workload_is_chosen_among_them() -> None:
    assert [stack.name for stack in find(STACKS, stage="sandbox", workload="orders")] == ["sandbox-orders"]


def test_a_stack_of_somebody_else_is_refused() -> None:
    with pytest.raises(Trouble, match="none of ours"):
        find(STACKS, stage="dev", names=["other"])


def test_where_nothing_is_deployed_it_says_so() -> None:
    with pytest.raises(Trouble, match="none of ours in this account and Region"):
        find(Stacks({}), stage="dev")
