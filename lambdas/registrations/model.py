"""A registration that is to expire, and when it is looked at. Knows no AWS, no transport."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from enum import StrEnum
from typing import Any

from idempotency import keys
from idempotency.errors import InvalidKey

EVENT = "RegistrationExpiry"

MAX_ID = 256  # characters

# Past the lookback for so long (seconds) a registration is still looked at, but not expired any more: what is
# left open is reported. An hour less than the day by which records outlive the lookback.
LAST_LOOK = 23 * 3600


class InvalidRegistration(ValueError):  # noqa: N818 - says what it is about
    """`field` is the field that makes it no registration."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}")
        self.field = field


class When(StrEnum):
    """What time it is for a registration."""

    NOT_DUE = "not-due"
    DUE = "due"
    TOO_LATE = "too-late"  # looked at for the last time
    PAST = "past"  # nobody knows any more what became of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """`effective_on` is the day on which it expires, from its start in UTC."""

    id: str
    effective_on: date

    @property
    def key(self) -> str:
        """The same for the schedule and for an event; the date's form is fixed, so no two share one."""
        return f"{EVENT}:{self.id}:{self.effective_on.isoformat()}"

    @property
    def due_at(self) -> int:
        """Epoch seconds."""
        return int(datetime.combine(self.effective_on, time.min, UTC).timestamp())

    def when(self, now: int, *, lookback: int) -> When:
        """`lookback`: seconds for which it is taken once it is due."""
        age = now - self.due_at
        if age < 0:
            return When.NOT_DUE
        if age <= lookback:
            return When.DUE
        return When.TOO_LATE if age <= lookback + LAST_LOOK else When.PAST

    def described(self) -> dict[str, str]:
        return {"recordId": self.id, "effectiveDate": self.effective_on.isoformat()}


def parse(found: Any) -> Registration:
    """From `{"recordId": …, "effectiveDate": "YYYY-MM-DD"}`. Raises InvalidRegistration."""
    if not isinstance(found, dict):
        raise InvalidRegistration("registration", "is no object")
    return Registration(id=_id(found.get("recordId")), effective_on=_date(found.get("effectiveDate")))


def _id(found: Any) -> str:
    text = found if isinstance(found, str) else ""
    try:
        keys.business_id(text, lambda value: value)
    except InvalidKey as invalid:
        raise InvalidRegistration("recordId", "must be text, and not blank") from invalid
    if len(text) > MAX_ID or not text.isprintable():  # SQS refuses attributes with control characters
        raise InvalidRegistration("recordId", f"must be up to {MAX_ID} printable characters")
    return text


def _date(found: Any) -> date:
    try:
        return date.fromisoformat(found)
    except (TypeError, ValueError):  # whose text would quote the payload
        raise InvalidRegistration("effectiveDate", "must be a date, YYYY-MM-DD") from None
