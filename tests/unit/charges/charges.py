"""Charges, and the events that bring them."""

import json
from datetime import UTC, datetime
from decimal import Decimal

from charges.model import Charge, Money

EVENT: dict[str, object] = {
    "chargeId": "CHG-1",
    "accountId": "ACC-7",
    "amount": "25.00",
    "currency": "EUR",
    "type": "monthly-fee",
    "dueAt": "2027-01-15T08:00:00+00:00",
}


def charge(
    *,
    id: str = "CHG-1",  # noqa: A002 - the field's name
    account_id: str = "ACC-7",
    amount: str = "25.00",
    currency: str = "EUR",
    type: str = "monthly-fee",  # noqa: A002 - the field's name
) -> Charge:
    return Charge(
        id=id,
        account_id=account_id,
        money=Money(amount=Decimal(amount), currency=currency),
        type=type,
        due_at=datetime(2027, 1, 15, 8, tzinfo=UTC),
    )


def body(**changes: object) -> str:
    """The event as JSON."""
    return json.dumps(EVENT | changes)


def body_without(field: str) -> str:
    return json.dumps({name: value for name, value in EVENT.items() if name != field})


def body_with_raw(field: str, value: str) -> str:
    """The event with `value` standing there as it is: a number that Python could not write down."""
    rest = json.dumps({name: kept for name, kept in EVENT.items() if name != field})
    return f'{rest[:-1]}, "{field}": {value}}}'
