"""Keys: no two different events, callers or requests ever share one, and AWS takes what is made of them."""

import json
import re
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from idempotency import keys
from idempotency.errors import InvalidKey
from idempotency.model import Key
from ingestion import intake
from orders import caller, idempotency_key
from orders.problem import Kind, Problem
from orders.records import Request
from tests.fuzz.effort import examples
from tests.fuzz.strategies.callers import identities, with_token
from tests.fuzz.strategies.requests import (
    headers_with,
    key_spellings,
    legal_keys,
    multiple_headers,
    single_headers,
)
from tests.fuzz.strategies.texts import any_text, json_values
from tests.ssm import rules
from tests.unit.ingestion.messages import message

EXECUTION_NAME = re.compile(r"[0-9A-Za-z_-]{1,80}")  # without what only an escape makes legal

identifying = st.recursive(
    any_text | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, min_size=1, max_size=3),
    max_leaves=3,
)
# What is near it: its JSON, the JSON of that, a list of it alone.
neighbours = st.sampled_from(
    [lambda found: found, json.dumps, lambda found: json.dumps(json.dumps(found)), lambda found: [found]]
)


def _id(found: Any) -> str | None:
    try:
        return keys.business_id(found, lambda body: body)
    except InvalidKey:
        return None


def _meant(found: Any) -> Any:
    """Of numbers and booleans, their JSON is what counts."""
    match found:
        case str():
            return found
        case list():
            return [_meant(each) for each in found]
    return json.dumps(found)


@examples(500)
@given(identifying, neighbours, identifying, neighbours)
@example(["a"], json.dumps, ["a"], lambda found: found)
@example("a", json.dumps, "a", lambda found: found)
def test_two_events_have_two_ids(one: Any, beside_one: Any, other: Any, beside_other: Any) -> None:
    for found, another in ((beside_one(one), beside_other(other)), (beside_one(one), beside_other(one))):
        identity = _id(found)
        if identity is not None and _meant(found) != _meant(another):
            assert identity != _id(another)


@examples(300)
@given(json_values)
def test_what_identifies_is_text_that_dynamodb_takes_and_nothing_else_raises(found: Any) -> None:
    identity = _id(found)
    if identity is not None:
        assert 0 < len(identity.encode()) <= keys.MAX_BYTES
        assert isinstance(found, str | int | list)


@examples(300)
@given(st.tuples(any_text, any_text, any_text), st.tuples(any_text, any_text, any_text))
def test_no_two_keys_or_requests_share_a_name_and_every_name_is_legal(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assume(one != other)
    names = []
    for first, second, third in (one, other):
        name = Request(caller=first, key=second).execution_name(third)
        assert EXECUTION_NAME.fullmatch(name)
        parameter = f"/idempotency/prod-registrations/{Key(pk=first, sk=second).digest()}/1"
        rules.check_name(parameter, "PutParameter")
        names.append((name, parameter if one[:2] != other[:2] else third))
    assert not set(names[0]) & set(names[1])
    if one[:2] != other[:2]:
        assert Request(caller=one[0], key=one[1]).id != Request(caller=other[0], key=other[1]).id


RULES = intake.Rules(
    namespace="ingestion",
    source="event",
    select_key=lambda body: body,
    select_fingerprint=None,
    message_id_without_key=True,
)


@examples(200)
@given(st.lists(st.tuples(identifying, st.sampled_from(["m-1", "m-2"])), min_size=2, max_size=2))
def test_executions_of_two_messages_have_two_names(found: list[tuple[Any, str]]) -> None:
    starts = [
        intake.read(message(json.dumps(body), message_id=message_id), RULES) for body, message_id in found
    ]
    for start in starts:
        assert isinstance(start, intake.Start)
        assert EXECUTION_NAME.fullmatch(start.name)
    same = found[0][1] == found[1][1] and starts[0].key == starts[1].key  # type: ignore[union-attr] # both are
    assert (starts[0].name == starts[1].name) is same  # type: ignore[union-attr] # both are


@examples(200)
@given(legal_keys.flatmap(lambda key: st.tuples(st.just(key), headers_with(st.just(key)))))
def test_a_key_is_the_same_however_its_header_is_written(sent: tuple[str, dict[str, Any]]) -> None:
    key, event = sent
    assert idempotency_key.from_headers(event) == key


@examples(300)
@given(single_headers, multiple_headers)
def test_any_headers_are_one_legal_key_or_a_problem(headers: Any, every: Any) -> None:
    try:
        key = idempotency_key.from_headers({"headers": headers, "multiValueHeaders": every})
    except Problem as problem:
        if problem.kind not in (Kind.KEY_MISSING, Kind.KEY_MALFORMED):
            raise
        return
    assert idempotency_key.is_key(key)
    sent = [*(headers or {}).values(), *(value for each in (every or {}).values() for value in each or ())]
    assert key in [(value or "").strip(' \t"') for value in sent]


@examples(100)
@given(st.lists(key_spellings, min_size=2, max_size=2), st.lists(legal_keys, min_size=2, max_size=2))
def test_a_key_that_is_sent_twice_is_none(names: list[str], sent: list[str]) -> None:
    every = (
        dict(zip(names, [[value] for value in sent], strict=True))
        if len(set(names)) == 2
        else {names[0]: sent}
    )
    with pytest.raises(Problem) as refused:
        idempotency_key.from_headers({"headers": {names[0]: sent[0]}, "multiValueHeaders": every})
    assert refused.value.kind is Kind.KEY_MALFORMED


@examples(300)
@given(identities(), identities())
@example(with_token("https://issuer.test", ":alice"), with_token("https://issuer.test:", "alice"))
def test_two_callers_are_two_values_and_the_sessions_of_one_role_are_one(one: Any, other: Any) -> None:
    (who, one_context), (whoelse, other_context) = one, other
    found = [caller.of({"requestContext": context}) for context in (one_context, other_context)]
    assert (found[0] == found[1]) is (who == whoelse)
