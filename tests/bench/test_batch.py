"""The batches that are timed are handled whole, by every contender."""

from itertools import count

import pytest

from bench.in_process import shipped
from bench.row import Sample
from bench.rows import batch


@pytest.mark.parametrize("name", [batch.OURS, batch.SEQUENTIAL, batch.POWERTOOLS])
def test_every_message_of_a_batch_is_settled(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with shipped.charges("http://127.0.0.1:9"):
        handle, numbers = batch.contenders(0)[name], count(1)
        messages = batch.batch(numbers)
        assert handle(messages) == 0
        assert handle(messages) == 0  # duplicates, by now
    assert capsys.readouterr().out.count('"Done"') == 2 * batch.MESSAGES  # each once, as metric and as value


def test_the_goal_compares_what_was_measured_in_the_same_round() -> None:
    taken = {
        batch.OURS: Sample.of([1.0, 2.0]),
        batch.SEQUENTIAL: Sample.of([5.0, 10.0]),
        batch.POWERTOOLS: Sample.of([5.0, 10.0]),
    }
    [goal] = batch.row(taken).goals
    assert goal.measured == "5.0 x"
    assert not goal.met
