"""Contexts of cdk.json: the shipped ones with anything in place of anything."""

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from stacks.settings import StageSettings, read_stage
from tests.fuzz.strategies.texts import any_text, json_values

_CDK_JSON = Path(__file__).parents[3] / "cdk.json"

Place = tuple[str, ...]


@cache
def _shipped() -> str:
    return json.dumps(json.loads(_CDK_JSON.read_text(encoding="utf-8"))["context"]["stages"])


def shipped() -> dict[str, Any]:
    """The stages, fresh: what is drawn goes into a copy."""
    return dict(json.loads(_shipped()))


def _places(kind: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Of everything that can be set in a stage, groups included, with its type."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        hint = hints[field.name]
        yield (*at, field.name), hint
        if is_dataclass(hint):
            yield from _places(hint, (*at, field.name))


PLACES = [(place, hint) for place, hint in _places(StageSettings) if place != ("stage",)]

# JMESPath in all its parts, and what its functions stumble over.
_expressions = st.recursive(
    st.sampled_from(
        ["a", "@", "*", "[]", "[0]", "[::0]", "a.b", "`1`", "`[]`", "'1e400'", '"a"', "[?a]", "{a: b}", "&a"]
    ),
    lambda inner: (
        st.builds(
            "{}{}{}".format, inner, st.sampled_from([".", " | ", " || ", " == ", " < ", "", ", "]), inner
        )
        | st.builds(
            "{}({})".format,
            st.sampled_from(
                [
                    "ceil",
                    "to_number",
                    "to_string",
                    "length",
                    "sort",
                    "avg",
                    "keys",
                    "max",
                    "sum",
                    "not_null",
                    "map",
                ]
            ),
            inner,
        )
        | inner.map("[{}]".format)
        | inner.map("!({})".format)
    ),
    max_leaves=4,
)
_deep_expressions = st.builds(
    lambda part, times: part * times + "a",
    st.sampled_from(["(", "!", "a|", "a.", "[", "`["]),
    st.sampled_from([1, 40, 3_000]),
)
expressions = (
    _expressions
    | _deep_expressions
    | st.integers(1, 6_000).map(lambda digits: f"a[{'9' * digits}]")
    | any_text
)

_hosts = st.sampled_from(
    [
        "effects.test",
        "127.0.0.1",
        "[::1]",
        "a_b",
        "xn--a",
        "a.",
        ".test",
        "a..b",
        "a" * 63,
        "a" * 64 + ".test",
        "é.test",
        "",
    ]
)
_ascii = st.text(st.characters(max_codepoint=127), max_size=8)
_ports = st.sampled_from(["", ":8099", ":", ":0", ":65536", ":a"])
_rests = st.sampled_from(["", "/", "/events?x=1", "/a b", "/%zz", "#a", "/é"]) | _ascii.map("/{}".format)
addresses = st.one_of(
    _hosts.map("https://{}/".format),
    _ascii.map("https://{}.test/".format),
    _ports.map("https://effects.test{}/events".format),
    _rests.map("https://effects.test{}".format),
    st.builds("https://{}{}{}".format, _hosts, _ports, _rests),
    st.sampled_from(
        ["http://127.0.0.1:8099/", "http://effects.test/", "ftp://effects.test/", "HTTPS://effects.test"]
    ),
    any_text,
)


_TEXTS = {"url": addresses, "key": expressions, "fingerprint": expressions}  # by the end of a setting's name


def _plausible(hint: Any, name: str, current: Any) -> st.SearchStrategy[Any]:
    """Of the right type, and often near what it is."""
    found: st.SearchStrategy[Any] = st.fixed_dictionaries({})
    match current:
        case bool():
            found = st.booleans()
        case int():
            found = st.integers(current - 2, current + 2) | st.integers(0, 2 * current + 2)
        case float():
            found = st.floats(current / 2, current * 2)
        case str() if get_origin(hint) is Literal:
            found = st.sampled_from(get_args(hint))
        case str():
            found = _TEXTS.get(name.rpartition("_")[2], _ascii)
    return found


_anything = st.one_of(
    st.integers(-1, 100_000),
    st.sampled_from([0.1, 1.5, 10**400, -(10**400), float("nan"), float("inf"), 1e308]),
    st.booleans(),
    addresses,
    expressions,
    json_values,
)


def _set(group: dict[str, Any], place: Place, value: Any) -> None:
    *groups, name = place
    for each in groups:
        if not isinstance(group.get(each), dict):
            group[each] = {}
        group = group[each]
    group[name] = value


@st.composite
def contexts(draw: st.DrawFn) -> dict[str, Any]:
    """Up to three settings changed, of which some may exist under no such name."""
    stages = shipped()
    stage = draw(st.sampled_from(list(stages)))
    now = read_stage(stage, shipped())
    for place, hint in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        value = draw(_plausible(hint, place[-1], attrgetter(".".join(place))(now)) | _anything)
        misspelt = draw(st.sampled_from([False] * 9 + [True]))
        _set(stages[stage], (*place[:-1], draw(any_text)) if misspelt else place, value)
    return {"stage": stage, "stages": stages}


any_contexts = st.fixed_dictionaries(
    {},
    optional={
        "stage": st.sampled_from(["dev", "prod"]) | json_values,
        "stages": json_values | st.dictionaries(st.just("dev"), json_values),
    },
)
