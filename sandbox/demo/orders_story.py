"""One order as its client, both providers and its record tell it; and whatever of that does not fit."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sandbox.demo.orders_client import Reply
from sandbox.demo.orders_plan import PlannedOrder, Task
from sandbox.demo.tally import Ending
from sandbox.downstream import Exchange

_STATUSES = ("ACCEPTED", "RUNNING", "SUCCEEDED", "FAILED")

# How often the effect of a task took place that did what is said of it.
_EFFECTS = {Task.DONE: (1,), Task.NOT_DONE: (0,), Task.UNKNOWN: (1,), Task.ANY: (0, 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A request for an order; `reply` is None if the client hung up before."""

    body: str
    reply: Reply | None


@dataclass(frozen=True, kw_only=True)
class OrderStory:
    """`seen` is what GET answered, in time; `charged`, `provisioned` by item, the calls that took effect."""

    order: PlannedOrder
    posted: Sequence[Posted]
    seen: Sequence[Reply]
    charged: Sequence[Exchange]
    provisioned: Mapping[int, Sequence[Exchange]]
    reasons: tuple[str, ...] = ()  # nothing is dead-lettered

    @property
    def event(self) -> str:
        return self.order.id

    @property
    def kind(self) -> str:
        return self.order.kind

    @property
    def state(self) -> str | None:
        return self.status

    @property
    def effects(self) -> int:
        return len(self.charged) + sum(map(len, self.provisioned.values()))

    @property
    def repeated(self) -> int:
        return max(len(self.charged), *map(len, self.provisioned.values()), 0)

    @property
    def ending(self) -> Ending:
        match self.status:
            case "SUCCEEDED" if self.charged and all(self.provisioned.get(n) for n in self._numbers):
                return Ending.DONE
            case "FAILED":
                return Ending.FAILED
            case _:
                return Ending.LOST

    @property
    def status(self) -> str | None:
        """As the caller saw it last."""
        return self._last.get("status")

    @property
    def id(self) -> str | None:
        """That the API gave it."""
        return next((posted.reply.json["id"] for posted in self._accepted if posted.reply), None)

    @property
    def replays(self) -> int:
        return sum(posted.reply.replayed for posted in self._accepted if posted.reply)

    @property
    def conflicts(self) -> int:
        return len(self._answered(409))

    @property
    def hung_up(self) -> int:
        return sum(posted.reply is None for posted in self.posted)

    @property
    def violations(self) -> list[str]:
        found = [*self._of_posts(), *self._of_gets(), *self._of_effects(), *self._of_the_end()]
        return [f"{self.order.id} ({self.order.kind}): {violation}" for violation in found]

    def _of_posts(self) -> Iterator[str]:
        statuses = Counter(posted.reply.status for posted in self.posted if posted.reply)
        if statuses.keys() - {202, 409}:
            yield f"POST was answered {dict(statuses)}"
        if not self._accepted:
            yield "never accepted"
            return
        bodies = {posted.body for posted in self._accepted}
        if len(bodies) > 1:
            yield f"{len(bodies)} bodies were accepted under one key"
        if any(posted.body in bodies for posted in self._answered(409)):
            yield "a retry with the accepted body was refused"
        answers = {
            (each.body, each.headers.get("location")) for each in (p.reply for p in self._accepted) if each
        }
        if len(answers) > 1:
            yield f"its retries got {len(answers)} different answers"
        if any(not str(location).endswith(f"/v1/orders/{self.order.key}") for _, location in answers):
            yield f"it is said to be at {sorted(str(location) for _, location in answers)}"
        first = len(self._accepted) - self.replays
        if first > 1 or (first == 0 and not self.hung_up):
            yield f"{first} answers are not marked as replays"

    def _of_gets(self) -> Iterator[str]:
        statuses = [reply.status for reply in self.seen]
        if set(statuses) - {200}:
            yield f"GET was answered {dict(Counter(statuses))}"
            return
        others = {reply.json.get("id") for reply in self.seen} - {self.id}
        if others:
            yield f"GET showed another order than {self.id}: {sorted(map(str, others))}"
        told = [str(reply.json.get("status")) for reply in self.seen]
        if [status for status in told if status not in _STATUSES] or told != sorted(
            told, key=_STATUSES.index
        ):
            yield f"its status went {' -> '.join(dict.fromkeys(told))}"

    def _of_effects(self) -> Iterator[str]:
        if len(self.charged) not in _EFFECTS[self.order.payment]:
            yield f"charged {len(self.charged)} times"
        accepted = {json.loads(posted.body)["payment"]["amount"] for posted in self._accepted}
        amounts = {json.loads(exchange.call.body)["amount"] for exchange in self.charged}
        if amounts - accepted:
            yield f"charged {sorted(amounts)}, accepted {sorted(accepted)}"
        for number in sorted({*self._numbers, *self.provisioned}):
            times = len(self.provisioned.get(number, ()))
            allowed = _EFFECTS[self.order.item(number)] if number in self._numbers else (0,)
            if times not in allowed:
                yield f"item {number} provisioned {times} times"

    def _of_the_end(self) -> Iterator[str]:
        expected = "FAILED" if self.order.reason else "SUCCEEDED"
        if self.status != expected:
            yield f"ended {self.status} instead of {expected}"
        parts = self._last.keys() - {"id", "status"}
        if self.status == "SUCCEEDED" and (parts != {"result"} or self._last["result"] != self._receipts):
            yield "its result is not what the providers answered first"
        if self.status == "FAILED" and parts != {"reason", "tasks"}:
            yield f"it failed, and its caller was told {sorted(parts)}"
        elif self.status == "FAILED":
            yield from self._of_the_failure()

    def _of_the_failure(self) -> Iterator[str]:
        reason, tasks = self._last["reason"], self._last["tasks"]
        if reason != self.order.reason:
            yield f"it failed because {reason!r}"
        if not self._fits(tasks["payment"], self.order.payment, len(self.charged)):
            yield f"its payment is told as {tasks['payment']}"
        if len(tasks["items"]) != self.order.items:
            yield f"{len(tasks['items'])} of its {self.order.items} items are told"
        for number, told in enumerate(tasks["items"]):
            if not self._fits(told, self.order.item(number), len(self.provisioned.get(number, ()))):
                yield f"item {number} is told as {told}"

    @staticmethod
    def _fits(told: str, expected: Task, effects: int) -> bool:
        """Where anything may have happened, what is told must fit with what did."""
        if expected is Task.ANY:
            return told in {Task.UNKNOWN, Task.DONE if effects else Task.NOT_DONE}
        return told == expected

    @property
    def _receipts(self) -> dict[str, Any]:
        """Of the calls that had an effect, as a result shows them."""
        payment = [{"receipt": exchange.answer.body.decode()} for exchange in self.charged]
        items = [
            {"receipt": exchange.answer.body.decode()}
            for number in self._numbers
            for exchange in self.provisioned.get(number, ())
        ]
        return {"payment": payment[0] if payment else None, "items": items}

    @property
    def _numbers(self) -> range:
        return range(self.order.items)

    @cached_property
    def _accepted(self) -> list[Posted]:
        return self._answered(202)

    def _answered(self, status: int) -> list[Posted]:
        return [posted for posted in self.posted if posted.reply and posted.reply.status == status]

    @cached_property
    def _last(self) -> dict[str, Any]:
        return self.seen[-1].json if self.seen else {}
