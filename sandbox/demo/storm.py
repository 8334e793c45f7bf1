"""One deployment under its storm: what is sent when, and what can be found out of each event afterwards."""

import time
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Generic
from urllib.parse import unquote

from sandbox.demo.deployment import DeadLetter, Deployment
from sandbox.demo.plan import E, Plan
from sandbox.demo.tally import Run, Story

_CHUNK = 20  # events that are sent before the duplicates that overlap with them
_REST_WITHIN_SECONDS = 150


class Storm(ABC, Generic[E]):
    """`problems` are whatever else was found wrong; any of them spoils the verdict."""

    def __init__(self, plan: Plan[E], deployment: Deployment) -> None:
        self._plan = plan
        self._deployment = deployment
        self.problems: list[str] = []
        self.sent = 0
        self.doing = "sending"

    @property
    def planned(self) -> int:
        return self._plan.deliveries

    @property
    @abstractmethod
    def effects(self) -> int:
        """How many there have been so far."""

    def blow(self) -> Run:
        begun = time.monotonic()
        again = {event.id for event in self._plan.overlapping}
        for start in range(0, len(self._plan.events), _CHUNK):
            chunk = self._plan.events[start : start + _CHUNK]
            self._send(event.body for event in chunk)
            self._send(event.body for event in chunk if event.id in again)
            if start == 0:
                self._under_way()
        self._rest()
        self.doing = "sending duplicates of what has ended"
        self._send(event.body for event in self._plan.later)
        self._send_last()
        self._rest()
        self.doing = "at rest"
        self._at_rest()
        return self._judge(time.monotonic() - begun)

    def _under_way(self) -> None:
        """The first events have been sent; a workload may do something to its functions now."""

    def _send_last(self) -> None:
        """Everything before has ended; a workload may send more than duplicates."""

    def _at_rest(self) -> None:
        """Nothing is under way any more; a workload may tidy up."""

    @abstractmethod
    def _judge(self, seconds: float) -> Run: ...

    def _send(self, bodies: Iterable[str]) -> None:
        sent = list(bodies)
        self._deployment.send(sent)
        self.sent += len(sent)

    def _rest(self) -> None:
        self.doing = "waiting for the last ones to end"
        if not self._deployment.wait_until_quiet(seconds=_REST_WITHIN_SECONDS):
            self.problems.append(f"not at rest within {_REST_WITHIN_SECONDS} s")

    def _stories(
        self,
        effects: Counter[str],
        records: Mapping[str, dict[str, Any]],
        copies: dict[str, list[DeadLetter]],
        *,
        refused: Mapping[str, str],
    ) -> tuple[Story, ...]:
        """`effects` and `records` by event. `refused`: the only reason that an event of a kind may have.

        Whatever nobody planned is a problem: an effect, a dead letter, a reason.
        """
        stories = tuple(
            Story(
                event=event.id,
                kind=event.kind,
                effects=effects[event.id],
                state=records[event.id]["state"]["S"] if event.id in records else None,
                reasons=tuple(str(copy.reason) for copy in copies.pop(event.body, [])),
            )
            for event in self._plan.events
        )
        unplanned = effects.keys() - {event.id for event in self._plan.events}
        self.problems += [f"an effect for {event}, which nobody sent" for event in sorted(unplanned)]
        self.problems += [f"a dead letter that nobody sent: {body[:80]}" for body in copies]
        self.problems += [
            f"{story.event} ({story.kind}): dead-lettered as {story.reasons}"
            for story in stories
            if story.kind in refused and set(story.reasons) != {refused[story.kind]}
        ]
        return stories

    def _records(self) -> dict[str, dict[str, Any]]:
        """The ledger's records by event."""
        return {event_of(pk): item for pk, item in self._deployment.records().items()}

    def _copies(self) -> dict[str, list[DeadLetter]]:
        """The dead letters by body."""
        copies: defaultdict[str, list[DeadLetter]] = defaultdict(list)
        for letter in self._deployment.take_dead_letters():
            copies[letter.body].append(letter)
        return copies


def event_of(key: str) -> str:
    """The event's id in a record's key or a downstream idempotency key: what follows the last colon."""
    return unquote(key).rpartition(":")[2]
