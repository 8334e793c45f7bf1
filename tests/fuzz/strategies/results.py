"""Results of effects: what JSON can keep, and objects that make trouble wherever they are touched."""

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.strategies.texts import any_text, depths, huge_integers


class Hostile(Exception):  # noqa: N818 - what its owner is
    """What a class of somebody else's may raise wherever it is touched. It can't even be written."""

    def __str__(self) -> str:
        raise Hostile

    __repr__ = __str__


def _hostile(*_: object) -> Any:
    raise Hostile


_METHODS = ["__str__", "__repr__", "__eq__", "__iter__", "__len__", "__bool__", "items", "is_finite"]
_CONTENTS: list[tuple[Any, ...]] = [
    (object,),
    (dict, {"a": 1}),
    (list, [1]),
    (tuple, [1]),
    (str, "a"),
    (int, 1),
    (float, 1.5),
    (Decimal, 1),
]


def _touchy(content: tuple[Any, ...], methods: list[str], *, nameless: bool) -> Any:
    """An instance of a subclass whose methods raise; even its class may have no name that can be read."""
    base, *arguments = content
    kind: Any = type("Nameless", (type,), {"__name__": property(_hostile)}) if nameless else type
    return kind("Touchy", (base,), dict.fromkeys(methods, _hostile))(*arguments)


touchy = st.builds(
    _touchy, st.sampled_from(_CONTENTS), st.lists(st.sampled_from(_METHODS)), nameless=st.booleans()
)


def _cycle() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


def _deep(depth: int) -> Any:
    made: Any = []
    for _ in range(min(depth, 5_000)):  # deeper, its destructor would be the test
        made = [made]
    return made


# What JSON can keep, and decimals.
kept: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text
    | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(any_text | st.sampled_from(["$decimal", "$omitted"]), inner, max_size=3)
    ),
    max_leaves=8,
)
results: st.SearchStrategy[Any] = st.recursive(
    kept
    | huge_integers
    | st.floats()
    | st.decimals()
    | st.binary()
    | st.sets(st.integers())
    | st.complex_numbers()
    | st.integers(500, 5_000).map("x".__mul__)
    | st.integers(500, 5_000).map("{".__mul__)
    | depths.map(_deep)
    | st.builds(_cycle)
    | touchy
    | touchy,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text | st.integers(), inner, max_size=3),
    max_leaves=4,
)
