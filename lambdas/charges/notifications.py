"""Customer notifications over HTTP: at least once, told apart from the debit by their own idempotency key."""

from charges.core_banking import described
from charges.model import Charge
from effects.http import HttpEffect


class Notifications:
    """Keeps `NotificationPort`."""

    def __init__(self, http: HttpEffect) -> None:
        self._http = http

    def notify(self, charge: Charge, *, attempt: int) -> None:
        self._http.post(described(charge), idempotency_key=f"{charge.id}:notification", attempt=attempt)
