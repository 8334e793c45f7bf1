"""The way of an execution, read from its history."""

from datetime import UTC, datetime
from typing import Any

from sandbox.demo.walk import BROKEN_OFF, END, START, Walk, decided, walked
from sandbox.demo.walk import walk as walk_among

ENDED = datetime(2026, 3, 1, tzinfo=UTC)


def walk(history: list[dict[str, Any]]) -> Walk:
    return walk_among(history, among=("Guard", "Effect", "Items", "Finish"))


def entered(name: str, type_: str = "Task", input_: str = "{}") -> dict[str, Any]:
    details = {"name": name, "input": input_}
    return {"type": f"{type_}StateEntered", "stateEnteredEventDetails": details}


def end(type_: str = "ExecutionSucceeded") -> dict[str, Any]:
    return {"type": type_, "timestamp": ENDED}


def test_a_walk_is_the_states_in_their_order_with_the_input_of_the_first() -> None:
    found = walk(
        [{"type": "ExecutionStarted"}, entered("Guard", input_='{"id": 1}'), entered("Effect"), end()]
    )

    assert (found.input, found.states, found.ended) == ({"id": 1}, ("Guard", "Effect"), ENDED)
    assert list(found.steps) == [(START, "Guard"), ("Guard", "Effect"), ("Effect", END)]
    assert found.told == "ended: Guard → Effect"


def test_the_states_of_a_map_s_items_are_left_out() -> None:
    history = [
        entered("Items", "Map"),
        {"type": "MapIterationStarted"},
        entered("Item"),
        {"type": "MapIterationSucceeded"},
        entered("Finish"),
        end(),
    ]

    assert walk(history).states == ("Items", "Finish")


def test_an_execution_that_did_not_succeed_broke_off() -> None:
    for type_ in ("ExecutionFailed", "ExecutionAborted", "ExecutionTimedOut"):
        found = walk([entered("Guard"), end(type_)])
        assert list(found.steps)[-1] == ("Guard", BROKEN_OFF)
        assert found.told == "broke off: Guard"


def test_steps_are_counted_over_all_executions() -> None:
    ways = [
        walk([entered("Guard"), end()]),
        walk([entered("Guard"), end()]),
        walk([entered("Guard"), end("x")]),
    ]

    assert walked({}, ways).steps == {(START, "Guard"): 3, ("Guard", END): 2, ("Guard", BROKEN_OFF): 1}


def test_a_function_that_decides_is_drawn_with_all_its_outcomes() -> None:
    found = decided("Consumer", {"done": 2, "already done": 0}, by="receives").report()

    assert found["by"] == "receives"
    assert [choice["Next"] for choice in found["definition"]["States"]["Consumer"]["Choices"]] == [
        "done",
        "already done",
    ]
    assert {(step["from"], step["to"]): step["times"] for step in found["steps"]} == {
        (START, "Consumer"): 2,
        ("Consumer", "done"): 2,
        ("Consumer", "already done"): 0,
        ("done", END): 2,
        ("already done", END): 0,
    }
