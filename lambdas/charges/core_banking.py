"""Core banking over HTTP: a debit under the charge's id as its idempotency key."""

import json

from charges.model import Charge
from effects.http import HttpEffect


class CoreBanking:
    """Keeps `AccountDebitPort`; the taxonomy of answers is that of `HttpEffect`."""

    def __init__(self, http: HttpEffect) -> None:
        self._http = http

    def debit(self, charge: Charge, *, attempt: int) -> object:
        return self._http.post(described(charge), idempotency_key=charge.id, attempt=attempt)


def described(charge: Charge) -> str:
    """JSON; the amount as text, so that no reader makes a float of it."""
    return json.dumps(
        {
            "chargeId": charge.id,
            "accountId": charge.account_id,
            "amount": f"{charge.money.amount:f}",
            "currency": charge.money.currency,
            "type": charge.type,
            "dueAt": charge.due_at.isoformat(),
        }
    )
