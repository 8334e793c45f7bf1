"""The side effect: the one function to replace with your own."""

from dataclasses import dataclass

import wiring


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """`key` identifies the event at the downstream too; `attempt` rises with each new claim (fencing)."""

    key: str
    attempt: int
    message_id: str
    body: str


def effect(event: Event) -> object:
    """Causes the effect and returns what is to be remembered of it.

    Raise `Rejected` when it was refused for good, `NotApplied` when nothing can have happened (it will be
    retried); any other exception means that nobody knows. All of it has to end within the setting
    `effect_deadline_seconds`.
    """
    return wiring.http_effect("EFFECT").post(event.body, idempotency_key=event.key, attempt=event.attempt)
