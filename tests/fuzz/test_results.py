"""Results: whatever an effect returns, its record becomes DONE, and what JSON can keep comes back."""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import count
from typing import Any

import pytest
from hypothesis import assume, example, given

from idempotency import results as stored
from idempotency.model import Key, State
from tests.contract.engines import ENGINES, Engine
from tests.contract.lives import AT_MOST_ONCE, Worker
from tests.fuzz.effort import examples
from tests.fuzz.strategies.results import kept, results, touchy

_numbers = count(1)


@pytest.fixture(scope="module", params=["memory", "dynamodb-on-moto", "ssm-on-strict-fake"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with ENGINES[request.param]() as engine:
        yield engine


def _looks_like_one_of_ours(value: Any) -> bool:
    """`{"$decimal": "1.5"}`, which nobody can tell from the Decimal."""
    match value:
        case list():
            return any(map(_looks_like_one_of_ours, value))
        case {"$decimal": str(digits)} if len(value) == 1:
            try:
                return str(Decimal(digits)) == digits and Decimal(digits).is_finite()
            except InvalidOperation:
                return False
        case dict():
            return any(map(_looks_like_one_of_ours, value.values()))
    return False


def _same(value: Any, other: Any) -> bool:
    """Equal, and of the same type all the way down: 1, 1.0, True and Decimal(1) are four results."""
    if type(value) is not type(other):
        return False
    match value:
        case list():
            return len(value) == len(other) and all(map(_same, value, other))
        case dict():
            return value.keys() == other.keys() and all(_same(value[name], other[name]) for name in value)
        case Decimal():
            return str(value) == str(other)
    return bool(value == other)


def _encoded(result: object) -> str | None:
    """None where it raises: what it raises can't be shown."""
    try:
        return stored.encode(result)
    except Exception:  # noqa: BLE001 - the point
        return None


@examples(300)
@given(kept)
@example({"$decimal": 7})
@example({"$decimal": "NaN"})
@example({"$decimal": " 1_0 "})
@example({"$decimal": [0, [1], 0]})
def test_what_json_can_keep_and_decimals_come_back_as_they_were(result: Any) -> None:
    assume(not _looks_like_one_of_ours(result))
    text = stored.encode(result)
    if len(text) < stored.MAX_BYTES / 2:  # a note is shorter
        assert _same(stored.decode(text), result)


@examples(500)
@given(results | touchy)
def test_encoding_raises_for_no_object_whatever_and_stays_below_the_limit(result: object) -> None:
    text = _encoded(result)
    assert text is not None
    assert len(text.encode()) <= stored.MAX_BYTES
    stored.decode(text)


@examples(40)
@given(result=results | touchy)
@example(result="x" * 4_000)
@example(result="{" * 700)
def test_every_result_leaves_its_record_done(engine: Engine, result: object) -> None:
    key = Key(pk=f"result:{next(_numbers)}", sk="fuzz")
    worker = Worker(engine.ledger(AT_MOST_ONCE), key)
    worker.claim()
    worker.ledger.complete(
        key, owner=worker.owner, attempt=worker.attempt, now=1_800_000_000, retention=1_000, result=result
    )
    record = worker.ledger.read(key)
    assert record
    assert record.state is State.DONE
    assert record.result is not None
    stored.decode(record.result)
