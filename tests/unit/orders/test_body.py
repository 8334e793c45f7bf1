"""The body of a POST: what is compared of it, and what of it is an order."""

import base64
import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from orders import body
from orders.problem import Kind, Problem
from tests.unit.orders.requests import BODY, ORDER, post


def _refused(sent: bytes | str) -> Problem:
    with pytest.raises(Problem) as refused:
        body.order_in(sent.encode() if isinstance(sent, str) else sent)
    return refused.value


def _changed(*path: str | int, to: object) -> str:
    order = copy.deepcopy(ORDER)
    place: Any = order
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return json.dumps(order)


def _without(*path: str | int) -> str:
    order = copy.deepcopy(ORDER)
    place: Any = order
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return json.dumps(order)


def test_an_order_is_read_as_it_is() -> None:
    assert body.order_in(BODY.encode()) == ORDER


def test_what_is_compared_is_what_the_client_sent() -> None:
    sent = b'{"payment" : "caf\xc3\xa9"}\n'
    plain = body.raw(post(sent.decode()))
    packed = body.raw(post(base64.b64encode(sent).decode(), base64=True))
    assert plain == packed == sent


def test_bytes_that_are_no_text_come_out_of_base64_as_they_went_in() -> None:
    sent = bytes(range(256))
    assert body.raw(post(base64.b64encode(sent).decode(), base64=True)) == sent


@pytest.mark.parametrize("event", [post(None), post(""), post("", base64=True), post(None, base64=True), {}])
def test_no_body_is_an_empty_one(event: dict[str, Any]) -> None:
    assert body.raw(event) == b""
    assert _refused(b"").kind is Kind.NOT_JSON


@pytest.mark.parametrize("packed", ["%%%%", "e30", "e30=\n", "e3 0=", "e30==="])
def test_base64_that_is_none_is_refused(packed: str) -> None:
    with pytest.raises(Problem) as refused:
        body.raw(post(packed, base64=True))
    assert refused.value.kind is Kind.NOT_JSON


def test_base64_with_a_letter_beyond_ascii_is_refused() -> None:
    with pytest.raises(Problem):
        body.raw(post("e30é", base64=True))


@pytest.mark.parametrize(
    "other",
    [
        BODY + "\n",
        " " + BODY,
        BODY.replace(": ", ":"),
        json.dumps(dict(reversed(ORDER.items()))),
        BODY.replace("SKU-1", r"\u0053KU-1"),
        BODY.replace("19.90", "19.9"),
    ],
)
def test_another_spelling_of_the_same_order_is_another_body(other: str) -> None:
    assert json.loads(other)
    assert body.digest(other.encode()) != body.digest(BODY.encode())


def test_the_same_bytes_are_the_same_body() -> None:
    assert body.digest(BODY.encode()) == body.digest(bytes(BODY, "utf-8"))
    assert len(body.digest(b"")) == 64


@pytest.mark.parametrize(
    "sent",
    [
        "",
        " ",
        "no json",
        "{",
        BODY + "}",
        BODY + BODY,
        "{'payment': 1}",
        '{"payment": 1,}',
        "// comment\n{}",
        "NaN",
        BODY.replace('"19.90"', "NaN"),
        BODY.replace('"19.90"', "Infinity"),
        BODY.replace('"19.90"', "-Infinity"),
        BODY.replace('"quantity": 2', '"quantity": 1e400'),
        BODY.replace('"quantity": 2', '"quantity": -1e400'),
        BODY.replace('"quantity": 2', '"quantity": 01'),
        BODY.replace('"quantity": 2', '"quantity": ' + "9" * 5_000),
        BODY.replace("tok_1", "tok\n1"),
        BODY.replace("tok_1", "\x00"),
        "[" * 60_000,
        '{"a":' * 10_000,
        "[" * 30_000 + "]" * 30_000,
        "\ufeff" + BODY,
        '{"payment": 1, "payment": 2}',
        BODY.replace('"quantity": 2', '"quantity": 2, "quantity": 3'),
        BODY.replace('"quantity": 2', '"quantity": 2, "quantity": 2'),
        BODY.replace('"quantity": 2', r'"quantity": 2, "quant\u0069ty": 2'),
    ],
    ids=range(27),
)
def test_what_is_no_json_or_may_mean_two_things_is_refused(sent: str) -> None:
    problem = _refused(sent)
    assert problem.kind is Kind.NOT_JSON
    assert problem.kind.status == 400


@pytest.mark.parametrize(
    "sent",
    [
        BODY.encode("utf-16"),
        BODY.encode("utf-32-le"),
        BODY.replace("tok_1", "é").encode("latin-1"),
        b'{"payment": "\xed\xa0\x80"}',
        b"\xff\xfe",
        b"\x00",
    ],
)
def test_what_is_not_utf_8_is_refused(sent: bytes) -> None:
    assert _refused(sent).kind is Kind.NOT_JSON


def test_half_a_surrogate_pair_in_the_event_is_no_utf_8_either() -> None:
    assert _refused(body.raw(post('{"payment": "\ud800"}'))).kind is Kind.NOT_JSON


def test_65536_bytes_are_taken_and_not_one_more() -> None:
    largest = BODY.encode() + b" " * (65_536 - len(BODY))
    assert len(largest) == 65_536
    assert body.order_in(largest) == ORDER
    problem = _refused(largest + b" ")
    assert problem.kind is Kind.TOO_LARGE
    assert problem.kind.status == 413
    assert "65537" in problem.detail


def test_what_counts_are_bytes() -> None:
    text = '"' + "é" * 32_768 + '"'
    assert len(text) < 65_536
    assert _refused(text).kind is Kind.TOO_LARGE


def test_too_large_is_said_before_anybody_reads_it() -> None:
    assert _refused("x" * 65_537).kind is Kind.TOO_LARGE


def test_100_items_are_taken_and_not_one_more() -> None:
    item = {"sku": "SKU-1", "quantity": 1}
    assert len(body.order_in(_changed("items", to=[item] * 100).encode())["items"]) == 100
    problem = _refused(_changed("items", to=[item] * 101))
    assert problem.kind is Kind.TOO_LARGE
    assert "101 items" in problem.detail


def test_too_many_items_is_said_although_the_items_are_none() -> None:
    assert _refused(_changed("items", to=[None] * 101)).kind is Kind.TOO_LARGE


AMOUNTS = ["0.01", "1", "19.9", "0.0001", "999999999999999.9999", "10.00"]
NO_AMOUNTS = [
    "0",
    "0.0",
    "0.0000",
    "00.01",
    "01",
    "-1",
    "+1",
    "1.",
    ".5",
    "1.00001",
    "1e3",
    "1,50",
    "1 000",
    "9999999999999999",
    "",
    " 1",
    "1\n",
    "0\n",
    "\u0661",
    "NaN",
    1,
    19.9,
    None,
    True,
    ["1"],
    {"value": "1"},
]


@pytest.mark.parametrize("amount", AMOUNTS)
def test_an_amount_is_a_decimal_above_zero_as_text(amount: str) -> None:
    assert body.order_in(_changed("payment", "amount", to=amount).encode())["payment"]["amount"] == amount


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (("payment", "amount"), NO_AMOUNTS),
        (("payment", "currency"), ["eur", "EU", "EURO", "E R", "€", "EUR\n", "ÉUR", "", 978, None]),
        (("payment", "token"), ["", "t" * 129, "tok 1", "tok/1", "tök", "tok_1\n", "tok,1", 1, None]),
        (("items", 0, "sku"), ["", "s" * 65, "SKU 1", "SKU/1", "SKÜ", "SKU-1\n", 1, None, ["SKU-1"]]),
        (("items", 0, "quantity"), [0, -1, 1001, 1.5, "2", "", None, True, False, [2], 10**100, 1e300]),
        (("items",), [[], {}, None, "SKU-1", [None], [[]], ["SKU-1"], [{}]]),
        (("payment",), [None, [], "tok_1", {}, 19.90]),
    ],
    ids=lambda part: ".".join(map(str, part)) if isinstance(part, tuple) else "",
)
def test_a_value_of_another_kind_is_no_order(path: tuple[str | int, ...], values: list[object]) -> None:
    for value in values:
        problem = _refused(_changed(*path, to=value))
        assert problem.kind is Kind.INVALID, value
        assert problem.kind.status == 422


@pytest.mark.parametrize(
    "path",
    [
        ("payment",),
        ("items",),
        ("payment", "amount"),
        ("payment", "currency"),
        ("payment", "token"),
        ("items", 1, "sku"),
        ("items", 1, "quantity"),
    ],
)
def test_nothing_may_be_left_out(path: tuple[str | int, ...]) -> None:
    assert _refused(_without(*path)).kind is Kind.INVALID


@pytest.mark.parametrize(
    "path", [("more",), ("payment", "more"), ("items", 0, "more"), ("orderId",), ("requestId",), ("",)]
)
def test_nothing_may_be_added(path: tuple[str | int, ...]) -> None:
    """Least of all what the workflow's input holds beside the order."""
    assert _refused(_changed(*path, to=1)).kind is Kind.INVALID


@pytest.mark.parametrize("sent", ["null", "true", "1", '"order"', "[]", "[1]", "{}"])
def test_json_that_is_no_order_is_invalid(sent: str) -> None:
    assert _refused(sent).kind is Kind.INVALID


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("items", 0, "quantity"), 1),
        (("items", 0, "quantity"), 1000),
        (("items", 0, "sku"), "s" * 64),
        (("payment", "token"), "t" * 128),
        (("payment", "token"), "._-"),
    ],
)
def test_the_largest_and_the_smallest_are_taken(path: tuple[str | int, ...], value: object) -> None:
    assert body.order_in(_changed(*path, to=value).encode())


def test_a_whole_number_may_be_written_as_json_schema_lets_it() -> None:
    assert body.order_in(_changed("items", 0, "quantity", to=1.0).encode())["items"][0]["quantity"] == 1


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (_without("items"), "body must contain ['items'] properties"),
        (_changed("items", 1, "quantity", to=0), "body.items[1].quantity must be bigger than or equal to 1"),
        ("[]", "body must be object"),
    ],
)
def test_the_client_is_told_what_is_wrong_with_it(sent: str, says: str) -> None:
    assert _refused(sent).detail == says


def test_reading_leaves_nothing_behind_for_the_next() -> None:
    readings: list[Callable[[], object]] = [lambda: _refused("{}"), lambda: body.order_in(BODY.encode())]
    for _ in range(2):
        for reading in readings:
            reading()
    assert body.order_in(BODY.encode()) == ORDER
