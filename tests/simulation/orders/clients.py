"""Clients as docs/orders.md has them: they send again until they are answered, then ask what became of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.simulation.orders.answers import location
from tests.simulation.orders.lives import Asked
from tests.simulation.scheduler import Fate, Scheduler
from tests.unit.orders.requests import Caller, Event, get, post, role, signed, token

GATEWAY_SECONDS = 29  # for which API Gateway waits for a function

CALLERS: dict[str, tuple[Caller, ...]] = {  # each by all the names under which it signs
    "alice": (signed("AIDAALICE"),),
    "shop": (role("session-1"), role("session-2")),
    "carol": (token("carol"),),
}

_POSTS, _GETS = 8, 5  # tries of a client at most
_ACCEPTED_SECONDS = 60  # for which an order may stay ACCEPTED before a client sends it again
_LATEST = 20  # seconds until a request arrives that its client has given up

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """`invoke(function, asked, event, late)` starts a function and answers what it did within the gateway's
    patience, None for nothing. `gives_up`: the share of steps after which a client does no more.
    """

    scheduler: Scheduler
    invoke: Callable[[str, Asked, Event, float], Answer | None]
    gives_up: float

    def carry_out(self, asked: Asked) -> None:
        """An actor's body: from the first POST to the order's end, or until it gives up."""
        if self._place(asked):
            self._follow(asked)

    def place_once(self, asked: Asked) -> Answer | None:
        headers = asked.key if self.scheduler.chance.random() < 0.8 else f'"{asked.key}"'
        event = post(asked.body, key=headers, caller=self._signs(asked))
        event["requestContext"]["path"] = location("").rstrip("/")
        return self._send("accept_order", asked, event)

    def ask(self, asked: Asked) -> Answer | None:
        of = Asked(asked.caller, asked.key)
        return self._send("order_status", of, get(asked.key, caller=self._signs(asked)))

    def _place(self, asked: Asked) -> bool:
        for attempt in range(_POSTS):
            answer = self.place_once(asked)
            if answer and answer["statusCode"] < 500 and answer["statusCode"] != 429:
                return bool(answer["statusCode"] == 202)
            if self._has_enough():
                return False
            self.scheduler.pause(self.scheduler.chance.uniform(0, min(30, 2**attempt)))
        return False

    def _follow(self, asked: Asked) -> None:
        placed, wait = self.scheduler.now, 0.5
        for _ in range(_GETS):
            self.scheduler.pause(wait * self.scheduler.chance.uniform(0.5, 1))
            wait *= 4
            answer = self.ask(asked)
            status = _status(answer)
            if status in ("SUCCEEDED", "FAILED") or self._has_enough():
                return
            if status == "ACCEPTED" and self.scheduler.now - placed > _ACCEPTED_SECONDS:
                self._place(asked)
                placed = self.scheduler.now

    def _send(self, function: str, asked: Asked, event: Event) -> Answer | None:
        """Over a network that loses requests, delays them, and loses answers."""
        scheduler = self.scheduler
        fate = scheduler.leave(f"{event['httpMethod']} {asked.caller}'s {asked.key}: {asked.body[-40:]}")
        if fate is Fate.THROTTLED:
            return {"statusCode": 429, "body": "{}"}
        if fate in (Fate.DIES_BEFORE, Fate.DIES_AFTER, Fate.DIES_LATE):
            fate = Fate.UNHEARD
        late = scheduler.chance.uniform(0, _LATEST) if fate is Fate.LATE else 0
        answer = self.invoke(function, asked, event, late)
        if fate is not Fate.GOES:
            answer = None
        told = f"{answer['statusCode']} {answer['body'][:70]}" if answer else "nothing"
        scheduler.note(f"  is answered {told}")
        return answer

    def _signs(self, asked: Asked) -> Caller:
        return self.scheduler.chance.choice(CALLERS[asked.caller])

    def _has_enough(self) -> bool:
        return self.scheduler.chance.random() < self.gives_up


def _status(answer: Answer | None) -> str:
    if not answer or answer["statusCode"] != 200:
        return ""
    return str(json.loads(answer["body"])["status"])
