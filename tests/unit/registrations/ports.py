"""What the service works with: a registry, the registrations' holders and a document, failing on command."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from registrations.model import InvalidRegistration, Registration

RECEIPT = {"status": 200, "body": "expired"}


def _nothing() -> None:
    pass


@dataclass(kw_only=True)
class Registers:
    """Keeps `RegistryPort`. `meanwhile` happens during the next expiry; `raises_for` goes by id."""

    raises: BaseException | None = None
    raises_for: dict[str, Exception] = field(default_factory=dict)
    meanwhile: Callable[[], None] = _nothing
    expired: list[tuple[str, int]] = field(default_factory=list)  # id, attempt
    lock: Lock = field(default_factory=Lock)

    def expire(self, registration: Registration, *, attempt: int) -> object:
        with self.lock:
            self.expired.append((registration.id, attempt))
            happens, self.meanwhile = self.meanwhile, _nothing
        happens()
        error = self.raises_for.get(registration.id, self.raises)
        if error:
            raise error
        return RECEIPT


@dataclass(kw_only=True)
class Holders:
    """Keeps `NotificationPort`."""

    raises: Exception | None = None
    told: list[tuple[str, int]] = field(default_factory=list)  # id, attempt

    def notify(self, registration: Registration, *, attempt: int) -> None:
        self.told.append((registration.id, attempt))
        if self.raises:
            raise self.raises


@dataclass(kw_only=True)
class Listed:
    """Keeps `RegistrationsPort`."""

    registrations: list[Registration] = field(default_factory=list)
    invalid: list[InvalidRegistration] = field(default_factory=list)
    raises: Exception | None = None

    def read(self) -> tuple[list[Registration], list[InvalidRegistration]]:
        if self.raises:
            raise self.raises
        return self.registrations, self.invalid
