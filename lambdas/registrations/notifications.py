"""Notifications over HTTP: at least once, told apart from the expiry by their own idempotency key."""

import json

from effects.http import HttpEffect
from registrations.model import Registration


class Notifications:
    """Keeps `NotificationPort`."""

    def __init__(self, http: HttpEffect) -> None:
        self._http = http

    def notify(self, registration: Registration, *, attempt: int) -> None:
        self._http.post(
            json.dumps(registration.described()),
            idempotency_key=f"{registration.key}:notification",
            attempt=attempt,
        )
