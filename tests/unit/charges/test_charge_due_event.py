"""The wire format: a charge, or the name of the field that makes it none; nothing else is ever raised."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from charges.charge_due_event import parse
from charges.model import Charge, InvalidCharge
from tests.unit.charges.charges import EVENT, body, body_with_raw, body_without, charge

TEXTS = ["chargeId", "accountId", "currency", "type", "dueAt"]
IDS = ["chargeId", "accountId", "type"]


def _refused(text: str) -> str:
    """The field."""
    with pytest.raises(InvalidCharge) as refusal:
        parse(text)
    assert str(refusal.value).startswith(refusal.value.field)
    return refusal.value.field


def test_an_event_is_read_into_a_charge() -> None:
    assert parse(body()) == charge()


def test_what_else_an_event_says_is_left_alone() -> None:
    assert parse(body(extra={"deep": [1.5, None]}, also="x" * 10_000)) == charge()


@pytest.mark.parametrize(
    "text", ["", " ", "no json", "{", '{"chargeId": }', "\x00", "\ufeff{}", "{} {}", "'{}'"]
)
def test_what_is_no_json_is_named_so(text: str) -> None:
    assert _refused(text) == "json"


@pytest.mark.parametrize("text", ["null", "true", "7", '"text"', "[]", "[{}]"])
def test_json_that_is_no_object_is_named_so(text: str) -> None:
    assert _refused(text) == "json"


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_nesting_without_an_end_is_no_json(bracket: str) -> None:
    assert _refused(bracket * 200_000) == "json"


@pytest.mark.parametrize("field", EVENT)
def test_a_missing_field_is_named(field: str) -> None:
    assert _refused(body_without(field)) == field


@pytest.mark.parametrize("value", [None, True, [], ["CHG-1"], {}, 7, 7.5], ids=repr)
@pytest.mark.parametrize("field", TEXTS)
def test_a_field_that_must_be_text_and_is_not_is_named(field: str, value: object) -> None:
    assert _refused(body(**{field: value})) == field


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "\t",
        " CHG-1",
        "CHG-1 ",
        "CHG\n1",
        "CHG\x7f1",
        "CHG\x001",
        "CHÄRGE",
        "\uff11",
        "\ud800",
        "a\u200bb",
    ],
)
@pytest.mark.parametrize("field", TEXTS)
def test_text_that_is_blank_padded_or_not_printable_ascii_is_named(field: str, value: str) -> None:
    assert _refused(body(**{field: value})) == field


@pytest.mark.parametrize("field", IDS)
def test_text_has_at_most_128_characters(field: str) -> None:
    assert parse(body(**{field: "x" * 128}))
    assert _refused(body(**{field: "x" * 129})) == field


def test_spaces_within_are_text() -> None:
    assert parse(body(type="monthly fee")).type == "monthly fee"


@pytest.mark.parametrize("currency", ["eur", "XXX", "EURO"])
def test_an_unknown_currency_is_named(currency: str) -> None:
    assert _refused(body(currency=currency)) == "currency"


@pytest.mark.parametrize("value", [None, True, False, [], ["25.00"], {"value": 25}], ids=repr)
def test_an_amount_that_is_neither_number_nor_text_is_named(value: object) -> None:
    assert _refused(body(amount=value)) == "amount"


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "25,00",
        "0x19",
        "25 EUR",
        "1e",
        "--1",
        "NaN",
        "sNaN",
        "Infinity",
        "-inf",
        "0",
        "-25",
        "1e400",
        "25.001",
        "9" * 41,
        "1e999999999999999999999",
        "1e-999999999999999999999",
    ],
)
def test_text_that_is_no_amount_is_named(value: str) -> None:
    assert _refused(body(amount=value)) == "amount"


@pytest.mark.parametrize(
    "number", ["0", "-0", "0.0", "-25", "1e400", "-1e400", "1E+15", "25.001", "1e-300", "9" * 41, "9" * 5_000]
)
def test_a_number_that_is_no_amount_is_named(number: str) -> None:
    assert _refused(body_with_raw("amount", number)) == "amount"


@pytest.mark.parametrize("number", ["1e999999999999999999999", "1e-999999999999999999999"])
def test_a_number_that_decimal_cannot_hold_is_named(number: str) -> None:
    assert _refused(body_with_raw("amount", number)) == "amount"


def test_a_number_that_decimal_cannot_hold_matters_in_no_other_field() -> None:
    assert parse(body_with_raw("extra", "1e999999999999999999999")) == charge()


@pytest.mark.parametrize("number", ["1e-1000027", '"1e-1000027"'])
def test_a_number_below_all_precision_is_named(number: str) -> None:
    assert _refused(body_with_raw("amount", number)) == "amount"


@pytest.mark.parametrize("text", ["2_5.0_0", " 25.00", "25.00\n", "\u0662\u0665", "\uff12\uff15"])
def test_amounts_are_written_in_ascii_digits_without_decoration(text: str) -> None:
    assert _refused(body(amount=text)) == "amount"


@pytest.mark.parametrize("quote", ["", '"'], ids=["number", "text"])
def test_an_amount_is_written_with_at_most_40_characters(quote: str) -> None:
    """Whatever its value: no more is computed with."""
    assert parse(body_with_raw("amount", f"{quote}25.{'0' * 37}{quote}")) == charge()
    assert _refused(body_with_raw("amount", f"{quote}25.{'0' * 38}{quote}")) == "amount"


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_literal_that_is_no_json_is_refused_by_the_name_of_its_field(constant: str) -> None:
    assert _refused(body_with_raw("amount", constant)) == "amount"


@pytest.mark.parametrize("written", ["25", "25.0", "25.00", "2.5e1", '"25"', '"25.00"', '"2.5e1"'])
def test_a_number_and_the_text_of_it_are_the_same_amount(written: str) -> None:
    read = parse(body_with_raw("amount", written))
    assert type(read.money.amount) is Decimal
    assert read == charge()
    assert read.fingerprint == charge().fingerprint


def test_no_float_comes_between() -> None:
    """As floats these two are one."""
    first, second = (
        parse(body_with_raw("amount", amount)) for amount in ("900000000000000.01", "900000000000000.02")
    )
    assert (str(first.money), str(second.money)) == ("900000000000000.01 EUR", "900000000000000.02 EUR")
    assert first.fingerprint != second.fingerprint


def test_of_a_field_that_stands_twice_the_last_counts() -> None:
    """As in every reader of JSON that the producer is likely to have."""
    assert parse(body_with_raw("amount", '1, "amount": 25')) == charge()


@pytest.mark.parametrize(
    "value", ["soon", "2027", "2027-13-01", "2027-02-30", "15.01.2027", "1800000000", "08:00"]
)
def test_what_is_no_time_is_named(value: str) -> None:
    assert _refused(body(dueAt=value)) == "dueAt"


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2027-01-15T08:00:00Z", datetime(2027, 1, 15, 8, tzinfo=UTC)),
        ("2027-01-15T09:00:00+01:00", datetime(2027, 1, 15, 9, tzinfo=timezone(timedelta(hours=1)))),
        ("2027-01-15", datetime(2027, 1, 15)),
    ],
)
def test_a_time_is_any_of_iso_8601(value: str, time: datetime) -> None:
    assert parse(body(dueAt=value)).due_at == time


def _charge_or_refusal(text: str) -> Charge | str:
    try:
        return parse(text)
    except InvalidCharge as invalid:
        return invalid.field


@given(st.text() | st.text(alphabet='{}[]":,0123456789eE+-.truefalsn \\'))
def test_no_text_whatever_raises_anything_else(text: str) -> None:
    assert _charge_or_refusal(text) == "json"


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(field=st.sampled_from(list(EVENT)), value=_values)
@example(field="amount", value=float("nan"))
def test_no_value_of_a_field_raises_anything_else(field: str, value: object) -> None:
    assert isinstance(made := _charge_or_refusal(body(**{field: value})), Charge) or made in (field, "json")


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,5})?", fullmatch=True))
def test_a_number_is_an_exact_amount_or_refused(number: str) -> None:
    made = _charge_or_refusal(body_with_raw("amount", number))
    assert made == "amount" or (isinstance(made, Charge) and made.money.amount == Decimal(number))


@given(st.text(alphabet="0123456789-:TZ+W.", max_size=40))
def test_no_time_raises_anything_else(text: str) -> None:
    assert isinstance(made := _charge_or_refusal(body(dueAt=text)), Charge) or made == "dueAt"


def test_what_is_wrong_is_said_without_the_value() -> None:
    """The text may be logged."""
    for event in (body(chargeId="ä-marker"), body(amount="marker"), body(dueAt="marker"), '"marker'):
        with pytest.raises(InvalidCharge) as refusal:
            parse(event)
        assert "marker" not in str(refusal.value)
