"""One deployment under its storm: what comes over it when, and what can be found out of each event."""

import time
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Generic
from urllib.parse import unquote

from sandbox.demo.deployment import DeadLetter, Deployment
from sandbox.demo.journal import Journal
from sandbox.demo.plan import E
from sandbox.demo.tally import Ending, Run, Story
from sandbox.demo.walk import Walked

SEEN_WITHIN_SECONDS = 90  # a few, unless the machine is busy with something else


class Storm(ABC, Generic[E]):
    """`problems` are whatever else was found wrong; any of them spoils the verdict."""

    def __init__(self, events: Sequence[E], deployment: Deployment) -> None:
        self._events = events
        self._deployment = deployment
        self.problems: list[str] = []
        self.journal = Journal()
        self.doing = "sending"

    def blow(self) -> Run:
        begun = time.monotonic()
        self._unfold()
        judged = self._judge(time.monotonic() - begun)
        walked = self._look_back()
        return replace(judged, moments=self.journal.moments(), walked=walked)

    @property
    @abstractmethod
    def progress(self) -> str:
        """What has happened so far, and what is being done."""

    @property
    @abstractmethod
    def effects(self) -> int:
        """How many there have been so far."""

    @abstractmethod
    def _unfold(self) -> None:
        """All that comes over the deployment; afterwards nothing is under way any more."""

    @abstractmethod
    def _judge(self, seconds: float) -> Run: ...

    def _look_back(self) -> Walked | None:
        """Writes into the journal what is known only afterwards; answers what was walked of a workflow."""
        return None

    def _kill(self, function: str, *, once: Callable[[], object]) -> None:
        """SIGKILLs whatever runs the function as soon as `once` says so."""
        deadline = time.monotonic() + SEEN_WITHIN_SECONDS
        while not once() and time.monotonic() < deadline:
            time.sleep(0.02)
        if not self._deployment.kill(function):
            self.problems.append("there was no worker to kill")

    def _stories(
        self,
        effects: Counter[str],
        states: Mapping[str, str],
        copies: dict[str, list[DeadLetter]],
        *,
        refused: Mapping[str, str],
    ) -> tuple[Story, ...]:
        """`effects`, and the records' `states`, by event. `refused`: the only reason a kind may have.

        Whatever nobody planned is a problem: an effect, a dead letter, a reason.
        """
        stories = tuple(
            Story(
                event=event.id,
                kind=event.kind,
                effects=effects[event.id],
                state=states.get(event.id),
                reasons=tuple(str(copy.reason) for copy in copies.pop(event.body, [])),
            )
            for event in self._events
        )
        unplanned = effects.keys() - {event.id for event in self._events}
        self.problems += [f"an effect for {event}, which nobody sent" for event in sorted(unplanned)]
        self.problems += [f"a dead letter that nobody sent: {body[:80]}" for body in copies]
        self.problems += [
            f"{story.event} ({story.kind}): dead-lettered as {story.reasons}"
            for story in stories
            if story.kind in refused and set(story.reasons) != {refused[story.kind]}
        ]
        return stories

    def _judge_notification(
        self, story: Story, status: str | None, notified: int, *, told: str, failed: str, refused: bool
    ) -> None:
        """`status` is the record's: `told` or `failed`. `refused`: the endpoint takes none for this event."""
        where = f"{story.event} ({story.kind})"
        if notified and not story.effects:
            self.problems.append(f"{where}: notified of an effect that there was not")
        if story.ending is not Ending.DONE:
            return
        if status == told and not notified:
            self.problems.append(f"{where}: said to be notified, but was not")
        if refused and status != failed:
            self.problems.append(f"{where}: {status}")

    def _copies(self) -> dict[str, list[DeadLetter]]:
        """The dead letters by body."""
        copies: defaultdict[str, list[DeadLetter]] = defaultdict(list)
        for letter in self._deployment.take_dead_letters():
            copies[letter.body].append(letter)
        return copies


def by_event(effects: Counter[str]) -> Counter[str]:
    """What is counted by downstream idempotency key; an event with two keys has the effects of both."""
    found: Counter[str] = Counter()
    for key, number in effects.items():
        found[event_of(key)] += number
    return found


def event_of(key: str) -> str:
    """The event's id in a record's key or a downstream idempotency key: what follows the last colon."""
    return unquote(key).rpartition(":")[2]
