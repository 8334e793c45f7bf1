"""Settings in a definition."""

import pytest

from stacks.placeholders import PlaceholderError, fill


def test_a_number_stays_a_number() -> None:
    assert fill({"Seconds": "${Wait}"}, {"Wait": 7}, left=()) == {"Seconds": 7}


def test_a_value_may_hold_placeholders_itself() -> None:
    filled = fill({"Retry": "${Rule}"}, {"Rule": [{"MaxAttempts": "${Attempts}"}], "Attempts": 3}, left=())
    assert filled == {"Retry": [{"MaxAttempts": 3}]}


def test_what_only_a_deployment_knows_is_left() -> None:
    assert fill(["${FunctionArn}", "$.path", 1], {}, left=("FunctionArn",)) == ["${FunctionArn}", "$.path", 1]


@pytest.mark.parametrize("text", ["${Wiat}", "in ${Wait} seconds"])
def test_a_placeholder_that_nothing_replaces_is_refused(text: str) -> None:
    with pytest.raises(PlaceholderError, match="must be one whole value, and one of Wait"):
        fill({"Seconds": text}, {"Wait": 7}, left=("FunctionArn",))
