"""What is true of every answer to a client, in the moment it is given, whether or not it is heard."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NoReturn

from tests.simulation.orders.lives import NO_ORDERS, Asked, Life, Lives
from tests.simulation.scheduler import Scheduler


@dataclass(frozen=True, slots=True)
class OrderAnswers:
    scheduler: Scheduler
    lives: Lives
    seen: Counter[str]
    without_answer: set[str] = field(default_factory=set)
    """Invocations that AWS did not answer, or refused for now."""

    def given(self, asked: Asked, answer: dict[str, Any]) -> None:
        """By the running actor."""
        status, content = answer["statusCode"], json.loads(answer["body"])
        self.seen[f"answer {status}"] += 1
        match status, bool(asked.body):
            case 202, True:
                self._hold_acceptance(asked, answer["headers"], content)
            case 409, True:
                self._hold_conflict(asked)
            case ((400 | 422), True) if asked.body in NO_ORDERS:
                self._hold_absence(asked, status)
            case 200, False:
                self._hold_status(asked, content)
            case 404, False:
                self._hold_absence(asked, status)
            case 503, _:
                if self.scheduler.running not in self.without_answer:
                    self._fail(f"503 to {asked}, and AWS has answered")
            case _:
                self._fail(f"{status} to {asked}: {content}")

    def _hold_acceptance(self, asked: Asked, headers: dict[str, str], content: dict[str, Any]) -> None:
        """The first answer, to its own body only; what it says has happened."""
        life = self._own(asked, content["id"])
        replayed = headers.get("Idempotency-Replayed") == "true"
        if content != {"id": life.order, "status": "ACCEPTED"} or headers["Location"] != location(asked.key):
            self._fail(f"202 to {asked} is not the first answer: {content}, {headers}")
        if life.asked.body != asked.body:
            self._fail(f"202 to {asked}, whose key has another body")
        if replayed is (life.accepted_by == self.scheduler.running):
            self._fail(f"202 to {asked}, {'' if replayed else 'not '}marked as a replay")
        if life.execution is None:
            self._fail(f"202 to {asked}, and {life.order} was never started")
        self.seen["replay"] += replayed
        life.told_accepted = True

    def _hold_conflict(self, asked: Asked) -> None:
        others = [life for life in self.lives.of(asked) if life.asked.body != asked.body]
        if not any(life.until >= asked.since for life in others):
            self._fail(f"409 to {asked}, and there was no other body")

    def _hold_status(self, asked: Asked, content: dict[str, Any]) -> None:
        life = self._own(asked, content["id"])
        if content["status"] not in life.statuses_since(asked.since):
            self._fail(f"{asked} is told that {life.order} is {content['status']}")
        if content["status"] == life.status:
            for name in ("result", "tasks"):
                if content.get(name) != json.loads(life.record.get(name, "null")):
                    self._fail(f"{asked} is told {content}; the record says {life.record}")
        self.seen[f"read {content['status']}"] += 1

    def _own(self, asked: Asked, order: str) -> Life:
        life = self.lives.orders.get(order)
        if life is None:
            self._fail(f"{asked} is told of {order}, which nobody accepted")
        if not life.is_of(asked):
            self._fail(f"{asked} is told of the order of {life.asked}")
        if life.until < asked.since or life.expires_at + self.lives.skew <= asked.since:
            self._fail(f"{asked} is told of {order}, whose life was over")
        return life

    def _hold_absence(self, asked: Asked, status: int) -> None:
        for life in self.lives.of(asked):
            if life.since < asked.since and not life.gone and not self.lives.over(life):
                self._fail(f"{status} to {asked}, who has {life.order}")

    def _fail(self, message: str) -> NoReturn:
        self.scheduler.fail(message)


def location(key: str) -> str:
    return f"/live/v1/orders/{key}"
