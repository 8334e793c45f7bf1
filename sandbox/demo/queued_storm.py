"""The storm over a workload with a queue: its messages, and some of them again, at once or later."""

import time
from collections.abc import Iterable, Sequence
from typing import Any, Generic

from sandbox.demo.journal import What
from sandbox.demo.plan import E, Plan
from sandbox.demo.queued_deployment import QueuedDeployment
from sandbox.demo.storm import Storm, event_of

_CHUNK = 20  # events that are sent before the duplicates that overlap with them


class QueuedStorm(Storm[E], Generic[E]):
    rest_within_seconds = 150

    def __init__(self, plan: Plan[E], deployment: QueuedDeployment) -> None:
        super().__init__(plan.events, deployment)
        self._plan = plan
        self._queued = deployment
        self._event_by_body = {event.body: event.id for event in plan.events}
        self.sent = 0

    @property
    def progress(self) -> str:
        return f"{self.sent}/{self._plan.deliveries} sent, {self.effects} effects ({self.doing})"

    def _unfold(self) -> None:
        self._send_overlapping(self._plan.events)
        self._rest()
        self.doing = "sending duplicates of what has ended"
        self._send(event.body for event in self._plan.later)
        self._send_last()
        self._rest()
        self.doing = "at rest"
        self._at_rest()

    def _send_overlapping(self, events: Sequence[E]) -> None:
        """These, and at once those of them again that are to overlap."""
        again = {event.id for event in self._plan.overlapping}
        for start in range(0, len(events), _CHUNK):
            chunk = events[start : start + _CHUNK]
            self._send(event.body for event in chunk)
            self._send(event.body for event in chunk if event.id in again)
            if start == 0:
                self._under_way()

    def _under_way(self) -> None:
        """The first events have been sent; a workload may do something to its functions now."""

    def _send_last(self) -> None:
        """Everything before has ended; a workload may send more than duplicates."""

    def _at_rest(self) -> None:
        """Nothing is under way any more; a workload may tidy up."""

    def _send(self, bodies: Iterable[str]) -> None:
        sent = list(bodies)
        at = time.monotonic()
        self._queued.send(sent)
        self.sent += len(sent)
        for event in (self._event_by_body[body] for body in sent if body in self._event_by_body):
            self.journal.write(event, What.DELIVERY, "sent to the queue", at=at)

    def _rest(self) -> None:
        self.doing = "waiting for the last ones to end"
        if not self._queued.wait_until_quiet(seconds=self.rest_within_seconds):
            self.problems.append(f"not at rest within {self.rest_within_seconds} s")

    def _records(self) -> dict[str, dict[str, Any]]:
        """The ledger's records by event."""
        return {event_of(pk): item for pk, item in self._queued.records().items()}


def states(records: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {event: record["state"]["S"] for event, record in records.items()}
