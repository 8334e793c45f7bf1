"""Results as text: what survives the round trip, and the note in place of what can't."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idempotency import results

texts = st.text('aé"\\\x00\U0001f6f6$')
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(json_values | st.decimals(allow_nan=False, allow_infinity=False))
def test_json_and_decimals_survive(value: Any) -> None:
    text = results.encode(value)
    if "$omitted" not in text:
        assert results.decode(text) == value


@pytest.mark.parametrize("value", ["12.30", "0.1", "1E+3", "-0", "123456789012345678901234567890.12"])
def test_a_decimal_keeps_its_digits(value: str) -> None:
    assert str(results.decode(results.encode(Decimal(value)))) == value


@given(
    st.binary() | st.sets(st.integers()) | st.complex_numbers() | st.builds(object) | st.just(float("nan"))
)
def test_encoding_never_fails(value: object) -> None:
    assert "not serialisable" in results.decode(results.encode(value))["$omitted"]


def test_deep_nesting_is_a_note_too() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert results.decode(results.encode(deep)).keys() == {"$omitted"}
    while deep:  # its destructor would recurse
        deep = deep.pop()


def test_the_limit_is_in_bytes_and_inclusive() -> None:
    fits = "x" * (results.MAX_BYTES - 2)  # and its quotes
    assert results.decode(results.encode(fits)) == fits
    assert "too large" in results.decode(results.encode(fits + "x"))["$omitted"]
    assert len(results.encode("é" * 500)) <= results.MAX_BYTES


def test_a_note_says_nothing_of_the_value() -> None:
    assert "secret" not in results.encode({"secret": {"secret"}})


def test_a_note_is_short_whatever_it_says() -> None:
    assert len(results.encode(type("X" * 10_000, (), {})())) < 300


@pytest.mark.parametrize(
    "lookalike", [{"$decimal": "no number"}, {"$decimal": 7}, {"$decimal": None}, {"$decimal": []}]
)
def test_what_only_looks_like_a_decimal_of_ours_does_not_break_reading(lookalike: Any) -> None:
    assert isinstance(results.decode(json.dumps(lookalike)), dict | Decimal)
