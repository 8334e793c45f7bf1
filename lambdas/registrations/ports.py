"""What the expiry needs of the outside world. Errors mean what `idempotency.errors` says of effects."""

from collections.abc import Sequence
from typing import Protocol

from idempotency.model import Key, Record
from registrations.model import InvalidRegistration, Registration


class RegistrationsPort(Protocol):
    def read(self) -> tuple[Sequence[Registration], Sequence[InvalidRegistration]]:
        """All that are to expire some day, due or not, and what among them could not be read."""


class RegistryPort(Protocol):
    def expire(self, registration: Registration, *, attempt: int) -> object:
        """Expires it under its key as idempotency key; what it returns is remembered."""


class NotificationPort(Protocol):
    def notify(self, registration: Registration, *, attempt: int) -> None:
        """Tells the holder, at least once; failing costs nothing but the notification."""


class DeadLettersPort(Protocol):
    def send(self, registration: Registration, *, reason: str) -> None:
        """Raises when the copy was not taken."""


class ReportsPort(Protocol):
    """Remembers which FAILED and IN_DOUBT records somebody was told of; `SsmLedger` does."""

    def unreported(self, key: Key) -> Record | None: ...

    def reported(self, key: Key) -> bool: ...

    def report(self, record: Record, *, now: int) -> None: ...
