"""The row of growth: what is flat is seen as flat, what bends as bent; the workflow is the one deployed."""

from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from bench.in_process import shipped
from bench.in_process.workflow import Workflow
from bench.row import Row
from bench.rows import growth
from bench.rows.growth import AMOUNTS, BATCHES, CHARGES, DUPLICATES, INGESTION, PAYLOADS, At, PerEvent
from sandbox.demo.progress import Progress
from stacks.ingestion_definition import ingestion_definition

POINTS = [
    At(name, *at)
    for name in (INGESTION, CHARGES)
    for at in [(axis, amount) for axis, amounts in AMOUNTS.items() for amount in amounts]
]


def flat(at: At, **changed: float) -> PerEvent:
    deliveries = 1 + at.amount if at.axis == DUPLICATES else 1
    usual = {
        "store_calls": 1 + deliveries,
        "store_bytes": 1_000 * (1 + deliveries),
        "other_bytes": 500,
        "states": 3 * deliveries,
        "cpu": 0.001,
    }
    return PerEvent(**(usual | changed))


def missed(row: Row) -> set[str]:
    return {goal.what for goal in row.goals if not goal.met}


def curves_with(at: At, **changed: float) -> dict[At, Sequence[PerEvent]]:
    return {each: [flat(each, **(changed if each == at else {}))] for each in POINTS}


def test_flat_curves_meet_every_goal() -> None:
    row = growth.row({at: [flat(at)] * 2 for at in POINTS})
    assert missed(row) == set()
    assert len(row.lines) == len(POINTS)


@pytest.mark.parametrize(
    ("at", "changed", "goal"),
    [
        (At(CHARGES, DUPLICATES, 10), {"store_calls": 13}, "store calls for one more duplicate"),
        (At(INGESTION, DUPLICATES, 10), {"states": 40}, "states for one more duplicate"),
        (
            At(INGESTION, DUPLICATES, 5),
            {"store_bytes": 9_000},
            "store bytes for one more duplicate, most to least",
        ),
        (At(CHARGES, BATCHES, 10), {"store_calls": 2.1}, f"store calls, whatever the {BATCHES}"),
        (
            At(INGESTION, PAYLOADS, 200),
            {"store_bytes": 2_200},
            f"store bytes, whatever the {PAYLOADS}, most to least",
        ),
        (At(INGESTION, PAYLOADS, 200), {"cpu": 0.002}, "CPU with 200 KB, to 1 KB"),
        (At(CHARGES, BATCHES, 10), {"cpu": 0.002}, "CPU in the largest batch, to alone"),
    ],
)
def test_a_curve_that_bends_misses_its_goal_and_no_other(
    at: At, changed: dict[str, float], goal: str
) -> None:
    assert missed(growth.row(curves_with(at, **changed))) == {goal}


def test_what_is_counted_of_the_shipped_functions_is_flat() -> None:
    row = growth.measure(Progress(Console(quiet=True)), quick=True)
    counted = [goal for goal in row.goals if not goal.what.startswith("CPU")]
    assert [goal.what for goal in counted if not goal.met] == []
    assert len(counted) == 9


def walked(verdict: dict[str, Any]) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """The states, and what the functions were given."""
    given: list[dict[str, Any]] = []

    def answering(answer: dict[str, Any]) -> Any:
        def function(payload: dict[str, Any]) -> dict[str, Any]:
            given.append(payload)
            return answer

        return function

    workflow = Workflow(
        ingestion_definition(shipped.settings("http://127.0.0.1:1").ingestion),
        {"IdempotencyGuard": answering(verdict), "SideEffect": answering({"reason": "done"})},
    )
    delivery = '{"messageId": "M", "businessKey": "b:1", "namespace": "n", "fingerprint": null,'
    return workflow.run("arn:E", f'{delivery} "returned": false, "body": "B", "attributes": {{}}}}'), given


GUARDED = {"idempotencyKey": {"pk": "b:1", "sk": "n"}, "attempt": 1, "leaseUntil": 9}


def test_a_claimed_event_goes_to_its_effect_with_what_the_guard_said() -> None:
    path, (guard, effect) = walked(GUARDED | {"proceed": True, "reason": "claimed"})
    assert path == ("IdempotencyGuard", "ShouldProceed", "SideEffect")
    assert (guard["executionId"], guard["businessKey"]) == ("arn:E", "b:1")
    assert effect == GUARDED | {
        "messageId": "M",
        "body": "B",
        "executionId": "arn:E",
        "retryCount": 0,
        "redriveCount": 0,
    }


def test_a_duplicate_is_skipped() -> None:
    path, _ = walked(GUARDED | {"proceed": False, "reason": "done"})
    assert path == ("IdempotencyGuard", "ShouldProceed", "SkipDuplicate")


def test_where_something_failed_the_walk_ends_with_an_error() -> None:
    with pytest.raises(NotImplementedError, match="DeadLetter"):
        walked(GUARDED | {"proceed": False, "reason": "failed"})
