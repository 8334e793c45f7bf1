"""What the service needs of the outside world. Errors mean what `idempotency.errors` says of effects."""

from typing import Protocol

from charges.model import Charge


class AccountDebitPort(Protocol):
    def debit(self, charge: Charge, *, attempt: int) -> object:
        """Debits the account under the charge's id as idempotency key; what it returns is remembered."""


class NotificationPort(Protocol):
    def notify(self, charge: Charge, *, attempt: int) -> None:
        """Tells the customer, at least once; failing costs nothing but the notification."""
