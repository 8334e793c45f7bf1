"""One deployment under its storm: what is sent when, and what can be found out afterwards."""

import time
from collections import Counter, defaultdict
from urllib.parse import unquote

from sandbox.demo.deployment import DeadLetter, Ingestion
from sandbox.demo.ingestion_plan import Kind, Plan
from sandbox.demo.tally import Run, Story
from sandbox.downstream import Downstream

_CHUNK = 20  # events that are sent before the duplicates that overlap with them
_REST_WITHIN_SECONDS = 150
_SETTLE_SECONDS = 37  # by then the last invocation of a stopped execution has ended (25 s + 10 s + margin)

# The reason that each body which can't become an execution must have in the dead-letter queue.
_REFUSED = {Kind.NOT_JSON: "invalid-json", Kind.NO_KEY: "no-key", Kind.TOO_LARGE: "too-large"}


class Storm:
    def __init__(self, plan: Plan, ingestion: Ingestion, downstream: Downstream) -> None:
        self._plan = plan
        self._ingestion = ingestion
        self._downstream = downstream
        self._problems: list[str] = []
        self.sent = 0
        self.doing = "sending"

    @property
    def planned(self) -> int:
        return self._plan.deliveries

    @property
    def effects(self) -> int:
        return self._downstream.effects_by_key().total()

    def blow(self) -> Run:
        begun = time.monotonic()
        again = {event.id for event in self._plan.overlapping}
        for start in range(0, len(self._plan.events), _CHUNK):
            chunk = self._plan.events[start : start + _CHUNK]
            self._send([event.body for event in chunk])
            self._send([event.body for event in chunk if event.id in again])
        self._rest()
        self.doing = "sending duplicates of what has ended"
        self._send([event.body for event in self._plan.later])
        self._rest()
        self.doing = "at rest"
        self._deal_with_unfinished()
        return self._judge(time.monotonic() - begun)

    def _send(self, bodies: list[str]) -> None:
        self._ingestion.send(bodies)
        self.sent += len(bodies)

    def _rest(self) -> None:
        self.doing = "waiting for the last executions to end"
        if not self._ingestion.wait_until_quiet(seconds=_REST_WITHIN_SECONDS):
            self._problems.append(f"not at rest within {_REST_WITHIN_SECONDS} s")

    def _deal_with_unfinished(self) -> None:
        """Nothing in this storm stops an execution; on a machine under load one may still time out."""
        if self._ingestion.executions("FAILED", "TIMED_OUT", "ABORTED"):
            time.sleep(_SETTLE_SECONDS)
            self._ingestion.reconcile()

    def _judge(self, seconds: float) -> Run:
        effects = Counter({_event_of(key): n for key, n in self._downstream.effects_by_key().items()})
        states = {_event_of(pk): item["state"]["S"] for pk, item in self._ingestion.records().items()}
        copies = self._copies()
        stories = tuple(
            Story(
                event=event.id,
                kind=event.kind,
                effects=effects.pop(event.id, 0),
                state=states.get(event.id),
                reasons=tuple(str(copy.reason) for copy in copies.pop(event.body, [])),
            )
            for event in self._plan.events
        )
        self._problems += [f"an effect for {event}, which nobody sent" for event in effects]
        self._problems += [f"a dead letter that nobody sent: {body[:80]}" for body in copies]
        self._problems += [
            f"{story.event} ({story.kind}): dead-lettered as {story.reasons}"
            for story in stories
            if story.kind in _REFUSED and set(story.reasons) != {_REFUSED[Kind(story.kind)]}
        ]
        skipped = sum(output.get("skipped", False) for output in self._ingestion.outputs_of_executions())
        return Run(
            stories=stories,
            deliveries=self.sent,
            skipped=skipped,
            seconds=seconds,
            problems=tuple(self._problems),
        )

    def _copies(self) -> dict[str, list[DeadLetter]]:
        copies: defaultdict[str, list[DeadLetter]] = defaultdict(list)
        for letter in self._ingestion.take_dead_letters():
            copies[letter.body].append(letter)
        return copies


def _event_of(key: str) -> str:
    """The event's id in a record's key or a downstream idempotency key: what follows the last colon."""
    return unquote(key).rpartition(":")[2]
