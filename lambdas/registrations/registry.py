"""The registry over HTTP: an expiry under the registration's key as its idempotency key."""

import json

from effects.http import HttpEffect
from registrations.model import Registration


class Registry:
    """Keeps `RegistryPort`; the taxonomy of answers is that of `HttpEffect`."""

    def __init__(self, http: HttpEffect) -> None:
        self._http = http

    def expire(self, registration: Registration, *, attempt: int) -> object:
        return self._http.post(
            json.dumps(registration.described()), idempotency_key=registration.key, attempt=attempt
        )
