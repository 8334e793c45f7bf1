"""Texts that are JSON, nearly, or not at all, and the values in them."""

import json
import sys
from typing import Any

from hypothesis import strategies as st


def _paired(text: str) -> str:
    """Two halves of a pair side by side are one character to every reader of JSON."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


# Halves of surrogate pairs, which `st.text` leaves out of a mixture, and what JSON or a line makes special.
_nasty = st.lists(st.characters() | st.sampled_from('\ud800\udfff"[\\\n\u2028\x00'), max_size=10)
any_text = st.text(max_size=20) | _nasty.map("".join).map(_paired)
huge_integers = st.builds(
    lambda digits, sign: sign * 10**digits, st.integers(0, 4_200), st.sampled_from([1, -1])
)
_no_numbers = st.sampled_from([float("nan"), float("-inf")])
json_scalars = st.none() | st.booleans() | st.integers() | st.floats() | _no_numbers | any_text
_json_trees: st.SearchStrategy[Any] = st.recursive(
    json_scalars | huge_integers,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
json_values = json_scalars | json_scalars | _json_trees


class Numeral(str):
    """A number that Python would not write so, or not at all."""


numerals = st.from_regex(r"-?(0|[1-9][0-9]{0,45})(\.[0-9]{1,9})?([eE][+-]?[0-9]{1,25})?", fullmatch=True).map(
    Numeral
)


def written(value: object, *, ascii_only: bool = True) -> str:
    """NaN and Infinity as Python writes them, which is no JSON."""
    return str(value) if isinstance(value, Numeral) else json.dumps(value, ensure_ascii=ascii_only)


@st.composite
def objects_with(draw: st.DrawFn, fields: dict[str, st.SearchStrategy[Any]]) -> str:
    """The text of a JSON object with these fields, more of them and some of them twice, in any order."""
    pairs = [(name, draw(value)) for name, value in fields.items()]
    pairs += draw(
        st.lists(st.tuples(st.sampled_from(list(fields)) | any_text, json_values | numerals), max_size=2)
    )
    ascii_only = draw(st.booleans())
    members = [
        f"{written(name, ascii_only=ascii_only)}: {written(value, ascii_only=ascii_only)}"
        for name, value in draw(st.permutations(pairs))
    ]
    return "{" + ", ".join(members) + "}"


def nested(depth: int, inner: str = "1") -> str:
    return "[" * depth + inner + "]" * depth


# Also just within what Python reads, just outside, and far outside.
depths = st.one_of(
    st.integers(1, 50),
    st.integers(0, 40).map(lambda below: sys.getrecursionlimit() - below),
    st.integers(0, 300).map(lambda below: sys.getrecursionlimit() - below),
    st.just(100_000),
)

json_texts: st.SearchStrategy[str] = st.one_of(
    st.builds(written, json_values, ascii_only=st.booleans()),
    st.builds(nested, depths, st.sampled_from(["", "1", "{}", '"a"'])),
    st.integers(1, 6_000).map(lambda digits: "9" * digits),
    numerals,
    st.sampled_from(
        ["NaN", "-Infinity", "1e400", "\ufeff{}", "{}\n", "'a'", "{,}", '{"a":1,"a":2}', "nul", "01"]
    ),
)
broken_texts = (
    any_text
    | st.text('{}[]":,0123456789eE+-.truefalsn \\')
    | st.binary(max_size=20).map(lambda content: content.decode(errors="surrogateescape"))
)
