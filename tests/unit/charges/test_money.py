"""Money is a positive Decimal with the places of its currency, or it is not made."""

from dataclasses import FrozenInstanceError
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charges.currencies import DECIMAL_PLACES
from charges.model import InvalidCharge, Money


def _money(amount: str, currency: str = "EUR") -> Money:
    return Money(amount=Decimal(amount), currency=currency)


@pytest.mark.parametrize(("currency", "places"), DECIMAL_PLACES.items())
def test_each_currency_takes_its_own_places_and_not_one_more(currency: str, places: int) -> None:
    smallest = Decimal(1).scaleb(-places)
    assert Money(amount=smallest, currency=currency).amount == smallest
    with pytest.raises(InvalidCharge, match="more decimal places") as refusal:
        Money(amount=smallest / 10, currency=currency)
    assert refusal.value.field == "amount"


@pytest.mark.parametrize(
    ("currency", "places"),
    [("EUR", 2), ("JPY", 0), ("KRW", 0), ("CLP", 0), ("KWD", 3), ("BHD", 3), ("HUF", 2)],
)
def test_places_are_those_of_iso_4217(currency: str, places: int) -> None:
    assert DECIMAL_PLACES[currency] == places


@pytest.mark.parametrize(
    "currency", ["eur", "EURO", "", "XXX", "XTS", "XAU", "CHE", "HRK", "ANG", "€", " EUR"]
)
def test_what_is_no_active_code_is_no_currency(currency: str) -> None:
    with pytest.raises(InvalidCharge) as refusal:
        _money("1", currency)
    assert refusal.value.field == "currency"


@pytest.mark.parametrize(
    "amount",
    [
        "0",
        "0.00",
        "-0",
        "-0.01",
        "-25",
        "NaN",
        "-NaN",
        "sNaN",
        "NaN7",
        "Infinity",
        "-Infinity",
        "1e400",
        "1e15",
    ],
)
def test_what_is_not_above_0_and_below_the_largest_is_no_amount(amount: str) -> None:
    with pytest.raises(InvalidCharge, match="above 0 and below 1000000000000000") as refusal:
        _money(amount)
    assert refusal.value.field == "amount"


@pytest.mark.parametrize(
    ("amount", "currency"),
    [("25.001", "EUR"), ("0.1", "JPY"), ("1.0001", "KWD"), ("1e-40", "EUR"), ("999999999999999.991", "EUR")],
)
def test_an_amount_that_is_too_precise_is_refused_not_rounded(amount: str, currency: str) -> None:
    with pytest.raises(InvalidCharge, match="more decimal places than") as refusal:
        _money(amount, currency)
    assert refusal.value.field == "amount"


@pytest.mark.parametrize("amount", ["1e-1000027", "1e-1000100"])
def test_an_amount_too_small_to_compute_with_is_refused_too(amount: str) -> None:
    with pytest.raises(InvalidCharge):
        _money(amount)


@pytest.mark.parametrize("amount", ["0.01", "999999999999999.99"])
def test_the_smallest_and_the_largest_amount_are_amounts(amount: str) -> None:
    assert str(_money(amount)) == f"{amount} EUR"


@pytest.mark.parametrize("amount", ["25", "25.0", "25.00", "25.000", "2.5e1", "0.25e2", "2500e-2"])
def test_one_amount_has_one_form(amount: str) -> None:
    """`==` of Decimals would not tell: the form is what reaches the bank and the fingerprint."""
    assert _money(amount).amount.as_tuple() == Decimal("25.00").as_tuple()
    assert str(_money(amount)) == "25.00 EUR"


@pytest.mark.parametrize(("written", "form"), [("1e3", "1000"), ("25.000", "25")])
def test_without_places_there_is_no_point_and_no_exponent(written: str, form: str) -> None:
    assert str(_money(written, "JPY")) == f"{form} JPY"


@pytest.mark.parametrize("amount", [25.0, 25, "25"])
def test_only_a_decimal_is_an_amount(amount: object) -> None:
    """mypy says so first; at run time nothing else has what is asked of it."""
    with pytest.raises((AttributeError, TypeError)):
        Money(amount=amount, currency="EUR")  # type: ignore[arg-type] # the point


def test_money_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        _money("1").amount = Decimal(2)  # type: ignore[misc] # the point


@given(
    cents=st.integers(1, 10**17 - 1),
    zeros=st.integers(0, 10),
)
def test_any_number_of_cents_keeps_its_value(cents: int, zeros: int) -> None:
    written = Decimal(f"{cents}{'0' * zeros}e-{2 + zeros}")
    made = Money(amount=written, currency="EUR")
    assert made.amount == Decimal(cents).scaleb(-2)
    assert made.amount.as_tuple().exponent == -2
