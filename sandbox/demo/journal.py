"""What happened to each event when, as it can be seen from outside: what its story is told from."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sandbox.downstream import Exchange


class What(StrEnum):
    DELIVERY = "delivery"
    CALL = "call"  # of a downstream, without an effect
    EFFECT = "effect"
    HELD = "held"  # until a delivery comes back
    SKIPPED = "skipped"  # the end of a delivery that was a duplicate
    END = "end"  # of what a delivery set off


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """`at`: seconds since the journal was begun. `told`: in words."""

    at: float
    what: What
    told: str

    def report(self) -> dict[str, Any]:
        return {**asdict(self), "at": round(self.at, 3)}


class Journal:
    """Begun when it is made. Several threads may write."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._begun_by_the_clock = time.time()
        self._written: list[tuple[str, Moment]] = []  # whose append is atomic

    def write(self, event: str, what: What, told: str, *, at: float | None = None) -> None:
        """`at` is `time.monotonic()`; now if left out."""
        seconds = (time.monotonic() if at is None else at) - self._begun
        self._written.append((event, Moment(at=seconds, what=what, told=told)))

    def write_dated(self, event: str, what: What, told: str, *, at: datetime) -> None:
        """As AWS dates it."""
        seconds = at.timestamp() - self._begun_by_the_clock
        self._written.append((event, Moment(at=seconds, what=what, told=told)))

    def write_calls(
        self,
        name: str,
        exchanges: Iterable[Exchange],
        event: Callable[[Exchange], str],
        *,
        beside: bool = False,
    ) -> None:
        """Those that the downstream of this `name` got; `event` says which event one is for.

        `beside` the effect that is to take place once are those whose effects are not counted.
        """
        for exchange in exchanges:
            what = What.EFFECT if exchange.effect and not beside else What.CALL
            applied = "accepted" if beside else "the effect takes place"
            self.write(event(exchange), what, f"{name}: {_told(exchange, applied)}", at=exchange.call.at)

    def moments(self) -> dict[str, tuple[Moment, ...]]:
        """By event, in the order of time."""
        found: defaultdict[str, list[Moment]] = defaultdict(list)
        for event, moment in sorted(self._written, key=lambda each: each[1].at):
            found[event].append(moment)
        return {event: tuple(moments) for event, moments in found.items()}


def _told(exchange: Exchange, applied: str) -> str:
    answer = exchange.answer
    if exchange.effect:
        said = applied
    elif answer.takes_effect:
        said = "knows the key, no second effect"
    else:
        said = "no effect"
    if answer.drop:
        return f"{said}, the answer is dropped"
    late = f" after {answer.delay_seconds:g} s" if answer.delay_seconds else ""
    return f"{said}, answers {answer.status}{late}"
