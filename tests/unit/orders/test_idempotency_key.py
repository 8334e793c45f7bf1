"""The header `Idempotency-Key`: which forms are one key, and which are none."""

from typing import Any

import pytest

from orders import idempotency_key
from orders.problem import Kind, Problem

KEY = "8e03978e-40d5"


def _sent(*values: str, name: str = "Idempotency-Key") -> dict[str, Any]:
    """As REST APIs hand it over: `headers` holds the last of several."""
    return {"headers": {name: values[-1]}, "multiValueHeaders": {name: list(values)}}


def _refused(event: dict[str, Any]) -> Kind:
    with pytest.raises(Problem) as refused:
        idempotency_key.from_headers(event)
    assert refused.value.kind.status == 400
    return refused.value.kind


@pytest.mark.parametrize(
    "name", ["Idempotency-Key", "idempotency-key", "IDEMPOTENCY-KEY", "iDEMPOTENCY-kEY", "Idempotency-key"]
)
def test_the_header_is_found_in_any_letter_case(name: str) -> None:
    assert idempotency_key.from_headers(_sent(KEY, name=name)) == KEY


@pytest.mark.parametrize("value", [KEY, f'"{KEY}"', f" {KEY}", f"{KEY}  ", f'\t"{KEY}" ', f" \t {KEY}\t"])
def test_bare_and_quoted_are_one_key_whatever_blanks_stand_around_it(value: str) -> None:
    assert idempotency_key.from_headers(_sent(value)) == KEY


@pytest.mark.parametrize("name", ["Idempotency-Key", "idempotency-key"])
@pytest.mark.parametrize("alone", ["headers", "multiValueHeaders"])
def test_either_map_alone_will_do(alone: str, name: str) -> None:
    """Not every source of proxy events gives both."""
    given = {alone: _sent(KEY, name=name)[alone]}
    assert idempotency_key.from_headers(given) == KEY
    nothings: list[Any] = [None, {}]
    for nothing in nothings:
        event = {"headers": nothing, "multiValueHeaders": nothing, **given}
        assert idempotency_key.from_headers(event) == KEY


def test_other_headers_do_not_matter() -> None:
    event = _sent(KEY)
    event["headers"] |= {"X-Idempotency-Key": "another-key", "Content-Type": "text/plain"}
    event["multiValueHeaders"] |= {"X-Idempotency-Key": ["another-key"], "Accept": ["a/b", "c/d"]}
    assert idempotency_key.from_headers(event) == KEY


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"headers": None, "multiValueHeaders": None},
        {"headers": {}, "multiValueHeaders": {}},
        {"headers": None},
        {"headers": {"X-Idempotency-Key": KEY, "Idempotency_Key": KEY}},
        {"headers": {"Idempotency-Key": None}, "multiValueHeaders": {"Idempotency-Key": None}},
        {"headers": {"Idempotency-Key": ""}, "multiValueHeaders": {"Idempotency-Key": []}},
        _sent(""),
        _sent(" "),
        _sent("\t \t"),
        _sent("", " "),
    ],
)
def test_no_value_is_a_missing_key(event: dict[str, Any]) -> None:
    assert _refused(event) is Kind.KEY_MISSING


@pytest.mark.parametrize("length", [8, 9, 81, 127, 128])
@pytest.mark.parametrize("form", ["{}", '"{}"'])
def test_eight_to_128_characters_are_a_key(length: int, form: str) -> None:
    key = "k" * length
    assert idempotency_key.from_headers(_sent(form.format(key))) == key


@pytest.mark.parametrize("length", [1, 7, 129, 255, 5_000])
@pytest.mark.parametrize("form", ["{}", '"{}"'])
def test_fewer_or_more_are_none(length: int, form: str) -> None:
    assert _refused(_sent(form.format("k" * length))) is Kind.KEY_MALFORMED


def test_every_character_of_the_alphabet_is_taken_as_it_is() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
    assert idempotency_key.from_headers(_sent(alphabet)) == alphabet
    assert idempotency_key.from_headers(_sent("KEY-12345678")) != idempotency_key.from_headers(
        _sent("key-12345678")
    )


@pytest.mark.parametrize(
    "value",
    [
        "key 12345678",
        "key\t12345678",
        f"{KEY}\n",
        f"\n{KEY}",
        f"{KEY}\r",
        f"{KEY}\x00",
        f"{KEY},",
        f",{KEY}",
        "key,12345678",
        "key/12345678",
        "key:12345678",
        "key+12345678",
        "key=12345678",
        "key*12345678",
        "key%2D345678",
        "schlüssel-1234",
        "clé-12345678",
        "\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668",  # digits, but not 0 to 9
        "\uff4b\uff45\uff59-12345678",
        f"{KEY}\u00a0",
        "ключ-12345678",
        f'"{KEY}',
        f'{KEY}"',
        f"'{KEY}'",
        f'""{KEY}""',
        f'" {KEY}"',
        f'"{KEY} "',
        f'"{KEY}\n"',
        '""',
        '"',
        '"        "',
        f'"{KEY[:4]}\\"{KEY[4:]}"',  # an escaped quote, which no key holds
        f'"{KEY}\\\\"',
        f'"{KEY}";a=1',  # a structured field's parameter
        f'"{KEY}"; a',
        f":{KEY}:",  # a structured field's bytes
        "?1",
        "12345678;q=1",
    ],
)
def test_anything_else_is_malformed(value: str) -> None:
    assert _refused(_sent(value)) is Kind.KEY_MALFORMED


@pytest.mark.parametrize(
    "event",
    [
        _sent(KEY, KEY),
        _sent(KEY, "another-key-1"),
        _sent("", KEY),
        _sent(KEY, ""),
        _sent(f'"{KEY}"', KEY),
        _sent(f"{KEY}, {KEY}"),  # as the emulator joins them, in both maps
        _sent(f"{KEY},{KEY}"),
        _sent(f'"{KEY}", "{KEY}"'),
        {"headers": {"Idempotency-Key": f"{KEY},another-key-1"}},
        {"headers": {"Idempotency-Key": KEY}, "multiValueHeaders": {"idempotency-key": [KEY, KEY]}},
        {"headers": {"Idempotency-Key": KEY, "idempotency-key": KEY}},
        {"multiValueHeaders": {"Idempotency-Key": [KEY], "IDEMPOTENCY-KEY": [KEY]}},
    ],
)
def test_a_key_that_is_sent_twice_may_mean_either_so_it_is_none(event: dict[str, Any]) -> None:
    assert _refused(event) is Kind.KEY_MALFORMED


@pytest.mark.parametrize(
    ("text", "key"), [("k" * 8, True), ("k" * 7, False), (f'"{KEY}"', False), ("", False)]
)
def test_a_path_holds_the_bare_key_only(text: str, key: bool) -> None:
    assert idempotency_key.is_key(text) is key
