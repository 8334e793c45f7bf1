"""What core banking and the notification endpoint are sent."""

import json
from dataclasses import dataclass, field

import pytest

from charges.core_banking import CoreBanking
from charges.model import Charge
from charges.notifications import Notifications
from effects.http import HttpEffect
from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from tests.unit.charges.charges import EVENT, charge


@dataclass
class Downstream(HttpEffect):
    """Keeps what would have been posted."""

    raises: Exception | None = None
    posted: list[tuple[str, str, int]] = field(default_factory=list)  # body, key, attempt

    def post(self, body: str, *, idempotency_key: str, attempt: int) -> dict[str, object]:
        self.posted.append((body, idempotency_key, attempt))
        if self.raises:
            raise self.raises
        return {"status": 201, "body": "booked"}


@pytest.fixture
def downstream() -> Downstream:
    return Downstream()


def test_a_debit_is_posted_under_the_charges_id(downstream: Downstream) -> None:
    receipt = CoreBanking(downstream).debit(charge(), attempt=3)
    ((body, key, attempt),) = downstream.posted
    assert (json.loads(body), key, attempt) == (EVENT, "CHG-1", 3)
    assert receipt == {"status": 201, "body": "booked"}


def test_a_notification_has_a_key_of_its_own(downstream: Downstream) -> None:
    Notifications(downstream).notify(charge(), attempt=2)
    ((body, key, attempt),) = downstream.posted
    assert (json.loads(body), key, attempt) == (EVENT, "CHG-1:notification", 2)


@pytest.mark.parametrize(
    ("made", "amount"),
    [
        (charge(amount="25"), "25.00"),
        (charge(amount="2.5e3"), "2500.00"),
        (charge(amount="1e3", currency="JPY"), "1000"),
        (charge(amount="0.001", currency="KWD"), "0.001"),
        (charge(amount="900000000000000.01"), "900000000000000.01"),
    ],
    ids=str,
)
def test_the_amount_is_text_with_the_places_of_its_currency(
    made: Charge, amount: str, downstream: Downstream
) -> None:
    CoreBanking(downstream).debit(made, attempt=1)
    ((body, _, _),) = downstream.posted
    assert f'"amount": "{amount}"' in body


def test_the_same_charge_is_the_same_body_at_every_attempt(downstream: Downstream) -> None:
    """Core banking may compare what stands under one key."""
    bank = CoreBanking(downstream)
    for attempt, amount in ((1, "25"), (2, "25.000")):
        bank.debit(charge(amount=amount), attempt=attempt)
    (first, _, _), (second, _, _) = downstream.posted
    assert first == second


@pytest.mark.parametrize("error", [Rejected, NotApplied, OutcomeUnknown, KeyError])
def test_what_http_says_of_it_is_passed_on(error: type[Exception], downstream: Downstream) -> None:
    downstream.raises = error("as it is")
    with pytest.raises(error, match="as it is"):
        CoreBanking(downstream).debit(charge(), attempt=1)
    with pytest.raises(error, match="as it is"):
        Notifications(downstream).notify(charge(), attempt=1)
