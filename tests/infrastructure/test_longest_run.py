"""The longest run of a definition, on which the workflow's timeout rests."""

from typing import Any

import pytest

from stacks.longest_run import UnboundedRunError, longest_run_seconds


def run(most_items: int | None = None, **states: dict[str, Any]) -> float:
    return longest_run_seconds(definition(**states), most_items=most_items)


def definition(**states: dict[str, Any]) -> dict[str, Any]:
    return {"StartAt": next(iter(states)), "States": states}


def each_item(at_a_time: int, **states: dict[str, Any]) -> dict[str, Any]:
    return {"Type": "Map", "MaxConcurrency": at_a_time, "ItemProcessor": definition(**states), "End": True}


def task(seconds: int, **more: Any) -> dict[str, Any]:
    return {"Type": "Task", "TimeoutSeconds": seconds, "End": True, **more}


def test_a_task_takes_its_timeout_at_most() -> None:
    assert run(Only=task(10)) == 10


def test_every_try_may_time_out_and_every_delay_counts() -> None:
    retry = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 3, "MaxAttempts": 3, "BackoffRate": 2.0}
    assert run(Only=task(10, Retry=[retry])) == 4 * 10 + 3 + 6 + 12


def test_delays_stop_growing_at_their_maximum() -> None:
    retry = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 3, "MaxAttempts": 3, "MaxDelaySeconds": 5}
    assert run(Only=task(10, Retry=[retry])) == 4 * 10 + 3 + 5 + 5


def test_a_retrier_without_numbers_has_those_of_the_states_language() -> None:
    assert run(Only=task(10, Retry=[{"ErrorEquals": ["States.ALL"]}])) == 4 * 10 + 1 + 2 + 4


def test_every_retrier_has_its_own_attempts() -> None:
    first = {"ErrorEquals": ["Rejected"], "MaxAttempts": 0}
    second = {"ErrorEquals": ["NotApplied"], "MaxAttempts": 1}
    third = {"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}
    assert run(Only=task(10, Retry=[first, second, third])) == 4 * 10 + 1 + (1 + 2)


def test_the_slowest_path_counts_be_it_a_choice_a_default_or_a_catch() -> None:
    def longest(*, choice: int, default: int, catch: int) -> float:
        return run(
            Guard=task(1, Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Caught"}], Next="Ask"),
            Ask={"Type": "Choice", "Choices": [{"Next": "Chosen"}], "Default": "Other"},
            Chosen=task(choice),
            Other=task(default),
            Caught={"Type": "Wait", "Seconds": catch, "Next": "End"},
            End={"Type": "Succeed"},
        )

    assert longest(choice=9, default=2, catch=3) == 10
    assert longest(choice=2, default=9, catch=3) == 10
    assert longest(choice=2, default=3, catch=9) == 10


@pytest.mark.parametrize(("at_a_time", "rounds"), [(1, 7), (2, 4), (3, 3), (6, 2), (7, 1), (8, 1)])
def test_a_map_takes_as_many_rounds_of_its_slowest_item_as_it_needs(at_a_time: int, rounds: int) -> None:
    retry = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 3, "MaxAttempts": 1}
    assert run(7, Only=each_item(at_a_time, Item=task(10, Retry=[retry]))) == rounds * (10 + 3 + 10)


def test_a_map_may_be_retried_as_a_whole() -> None:
    retry = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 3, "MaxAttempts": 2}
    assert run(4, Only={**each_item(2, Item=task(10)), "Retry": [retry]}) == 3 * 20 + 3 + 6


def test_an_item_that_never_ends_is_refused() -> None:
    with pytest.raises(UnboundedRunError, match="state Item: its longest duration is not in the definition"):
        run(4, Only=each_item(2, Item={"Type": "Task", "End": True}))


@pytest.mark.parametrize(
    ("most_items", "at_a_time"),
    [(None, 10), (100, 0)],  # 0: no limit of ours, so Step Functions takes some number
)
def test_a_map_of_whose_items_or_rounds_nobody_knows_the_number_is_refused(
    most_items: int | None, at_a_time: int
) -> None:
    with pytest.raises(UnboundedRunError, match="state Only: its longest duration is not in the definition"):
        run(most_items, Only=each_item(at_a_time, Item=task(1)))


def test_a_way_back_is_refused() -> None:
    with pytest.raises(UnboundedRunError, match="state Again can come back to itself"):
        run(Again=task(1, Next="Other"), Other=task(1, Next="Again"))


@pytest.mark.parametrize(
    "state",
    [
        {"Type": "Task", "End": True},
        {"Type": "Task", "TimeoutSeconds": "10", "End": True},
        {"Type": "Wait", "SecondsPath": "$.seconds", "End": True},
        {"Type": "Map", "End": True},
    ],
)
def test_a_state_whose_duration_nobody_knows_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(UnboundedRunError, match="state Only: its longest duration is not in the definition"):
        run(Only=state)
