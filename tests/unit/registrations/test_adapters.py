"""What the registry and the notification endpoint are sent."""

import json
from dataclasses import dataclass, field

import pytest

from effects.http import HttpEffect
from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from registrations.notifications import Notifications
from registrations.registry import Registry
from tests.unit.registrations.desk import EVENT, KEY, REGISTRATION


@dataclass
class Downstream(HttpEffect):
    """Keeps what would have been posted."""

    raises: Exception | None = None
    posted: list[tuple[str, str, int]] = field(default_factory=list)  # body, key, attempt

    def post(self, body: str, *, idempotency_key: str, attempt: int) -> dict[str, object]:
        self.posted.append((body, idempotency_key, attempt))
        if self.raises:
            raise self.raises
        return {"status": 200, "body": "expired"}


@pytest.fixture
def downstream() -> Downstream:
    return Downstream()


def test_an_expiry_is_posted_under_the_registrations_key(downstream: Downstream) -> None:
    receipt = Registry(downstream).expire(REGISTRATION, attempt=3)
    ((body, key, attempt),) = downstream.posted
    assert (json.loads(body), key, attempt) == (EVENT, KEY.pk, 3)
    assert receipt == {"status": 200, "body": "expired"}


def test_a_notification_has_a_key_of_its_own(downstream: Downstream) -> None:
    Notifications(downstream).notify(REGISTRATION, attempt=2)
    ((body, key, attempt),) = downstream.posted
    assert (json.loads(body), key, attempt) == (EVENT, f"{KEY.pk}:notification", 2)


@pytest.mark.parametrize("error", [Rejected, NotApplied, OutcomeUnknown, KeyError])
def test_what_http_says_of_it_is_passed_on(error: type[Exception], downstream: Downstream) -> None:
    downstream.raises = error("as it is")
    with pytest.raises(error, match="as it is"):
        Registry(downstream).expire(REGISTRATION, attempt=1)
    with pytest.raises(error, match="as it is"):
        Notifications(downstream).notify(REGISTRATION, attempt=1)
