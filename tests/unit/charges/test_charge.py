"""A charge's identity and what has to be equal under it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from charges.model import Charge
from idempotency.model import Key
from tests.unit.charges.charges import charge


def test_its_id_is_its_key_within_the_use_case() -> None:
    assert charge(id="CHG-9").key("charges") == Key(pk="charge:CHG-9", sk="charges")


@pytest.mark.parametrize("amount", ["25", "25.0", "25.000", "2.5e1"])
def test_the_same_amount_in_another_form_is_the_same_charge(amount: str) -> None:
    assert charge(amount=amount).fingerprint == charge(amount="25.00").fingerprint


@pytest.mark.parametrize(
    "other",
    [
        charge(amount="25.01"),
        charge(account_id="ACC-8"),
        charge(currency="USD"),
        charge(type="late-fee"),
        charge(account_id="monthly-fee", type="ACC-7"),
    ],
    ids=["amount", "account", "currency", "type", "account and type swapped"],
)
def test_any_other_content_is_another_fingerprint(other: Charge) -> None:
    assert other.fingerprint != charge().fingerprint


def test_a_charge_that_is_due_at_another_time_is_the_same() -> None:
    """Producers that resend may say anew when it is due."""
    other = replace(charge(), due_at=datetime(2028, 1, 1, tzinfo=UTC))
    assert other.fingerprint == charge().fingerprint


def test_the_fingerprint_does_not_say_what_it_is_of() -> None:
    """It is stored, and shown to operators."""
    assert len(charge().fingerprint) == 64
    assert int(charge().fingerprint, 16)
