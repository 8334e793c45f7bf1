"""What identifies an event and what does not."""

import json
from typing import Any

import pytest

from idempotency import keys
from idempotency.errors import InvalidKey


def _whole(body: Any) -> Any:
    return body


@pytest.mark.parametrize(
    ("found", "identity"),
    [
        ("CHG-1", "CHG-1"),
        (" padded ", " padded "),
        ("ключ", "ключ"),
        (0, "0"),
        (False, "false"),
        (True, "true"),
        (-7, "-7"),
        (10**300, "1" + "0" * 300),
        (["ACC-1", 7, False], '["ACC-1","7","false"]'),
    ],
)
def test_text_whole_numbers_and_booleans_identify_falsy_ones_too(found: Any, identity: str) -> None:
    assert keys.business_id(found, _whole) == identity


@pytest.mark.parametrize(
    "found",
    [
        None,
        "",
        "   ",
        "\n\t",
        [],
        [None],
        [None, None],
        ["a", ""],
        ["a", ["b"]],
        [["a"]],
        {},
        {"id": 1},
        1.0,
        float("inf"),
        "\ud800",
        "half of a pair: \udc00",
        ["\ud800"],
    ],
    ids=repr,
)
def test_anything_else_is_no_key(found: Any) -> None:
    with pytest.raises(InvalidKey):
        keys.business_id(found, _whole)


def test_a_number_and_the_text_of_its_digits_are_one_event() -> None:
    assert keys.business_id(42, _whole) == keys.business_id("42", _whole)


@pytest.mark.parametrize(("one", "other"), [(["a", "b"], ["b", "a"]), (["a,b"], ["a", "b"]), ("a", ["a"])])
def test_lists_identify_by_their_elements_in_order(one: Any, other: Any) -> None:
    assert keys.business_id(one, _whole) != keys.business_id(other, _whole)


@pytest.mark.parametrize("character", ["a", "é", "\U0001f6f6"])
def test_a_key_may_be_as_long_as_the_limit_in_bytes_and_no_longer(character: str) -> None:
    fits = character * (keys.MAX_BYTES // len(character.encode()))
    assert keys.business_id(fits, _whole) == fits
    with pytest.raises(InvalidKey, match="longer"):
        keys.business_id(fits + character, _whole)


def test_an_integer_too_long_for_a_key_is_refused_like_text() -> None:
    assert keys.business_id(10**1023, _whole)
    with pytest.raises(InvalidKey, match="longer"):
        keys.business_id(10**1024, _whole)


def test_the_longest_key_still_fits_a_partition_key_with_its_source() -> None:
    assert keys.MAX_BYTES + len("a-source-with-a-rather-long-name:") < 2048


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ('{"a":1,"b":2}', '{ "b": 2, "a": 1 }', True),
        ('{"a":1}', '{"a":2}', False),
        ('{"a":1}', '{"a":"1"}', False),
        ('{"a":[1,2]}', '{"a":[2,1]}', False),
        ('{"a":null}', "{}", False),
        ('"\\ud800"', '"\\ud801"', False),
    ],
)
def test_a_fingerprint_differs_when_the_content_does_not_its_spelling(
    one: str, other: str, equal: bool
) -> None:
    fingerprints = [keys.fingerprint(json.loads(text), _whole) for text in (one, other)]
    assert (fingerprints[0] == fingerprints[1]) is equal
    assert all(len(fingerprint) == 64 for fingerprint in fingerprints)


def test_a_fingerprint_covers_only_what_is_selected() -> None:
    assert keys.fingerprint({"amount": 1, "at": 1}, lambda body: body["amount"]) == keys.fingerprint(
        {"amount": 1, "at": 2}, lambda body: body["amount"]
    )
