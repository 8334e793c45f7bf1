"""A charge and its money, valid by construction. Knows no AWS, no transport."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from charges.currencies import DECIMAL_PLACES
from idempotency import keys
from idempotency.model import Key

MAX_AMOUNT = Decimal(10) ** 15
MAX_TEXT = 128  # characters of an id or a type


class InvalidCharge(ValueError):  # noqa: N818 - says what it is about
    """`field` is the field of the event that makes it no charge."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}")
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """A positive amount in an ISO 4217 currency, with the decimal places of that currency. Never a float."""

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        places = DECIMAL_PLACES.get(self.currency)
        if places is None:
            raise InvalidCharge("currency", "is no active ISO 4217 code")
        if not self.amount.is_finite() or not 0 < self.amount < MAX_AMOUNT:
            raise InvalidCharge("amount", f"must be above 0 and below {MAX_AMOUNT:f}")
        unit = Decimal(1).scaleb(-places)
        exact = self.amount.quantize(unit)
        if exact != self.amount:
            raise InvalidCharge("amount", f"has more decimal places than {self.currency} ({places})")
        object.__setattr__(self, "amount", exact)

    def __str__(self) -> str:
        return f"{self.amount:f} {self.currency}"


class ChargeStatus(StrEnum):
    DEBITED = "DEBITED"
    DEBITED_NOTIFICATION_FAILED = "DEBITED_NOTIFICATION_FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One fact: this charge is owed. `id` identifies it, to core banking too."""

    id: str
    account_id: str
    money: Money
    type: str
    due_at: datetime

    def key(self, namespace: str) -> Key:
        return Key(pk=f"charge:{self.id}", sk=namespace)

    @property
    def fingerprint(self) -> str:
        """What must be equal under one id."""
        return keys.digest([self.account_id, f"{self.money.amount:f}", self.money.currency, self.type])
