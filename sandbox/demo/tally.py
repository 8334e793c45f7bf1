"""From what can be seen from outside to a verdict: how each event ended, and which promises held."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from sandbox.demo.journal import Moment
from sandbox.demo.walk import Walked

_NOTHING_HAPPENED = (None, "FAILED", "RELEASED")


class Ending(StrEnum):
    DONE = "done"
    DEAD_LETTERED = "dead_lettered"
    IN_DOUBT = "in_doubt"
    FAILED = "failed"  # and whoever asked for it is told so
    LOST = "lost"


class Told(Protocol):
    """What became of one event, as far as a verdict needs it."""

    @property
    def event(self) -> str: ...

    @property
    def kind(self) -> str:
        """What was to happen to it."""

    @property
    def state(self) -> str | None:
        """Of its record."""

    @property
    def effects(self) -> int: ...

    @property
    def repeated(self) -> int:
        """How often that one of its effects took place that did so most often."""

    @property
    def ending(self) -> Ending: ...

    @property
    def reasons(self) -> tuple[str, ...]:
        """Of its copies in the dead-letter queue."""

    @property
    def violations(self) -> list[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One event as the downstream, its record and the dead-letter queue tell it.

    `state` is None where there is no record; `reasons` are those of its copies in the dead-letter queue.
    """

    event: str
    kind: str
    effects: int
    state: str | None
    reasons: tuple[str, ...]

    @property
    def repeated(self) -> int:
        return self.effects

    @property
    def ending(self) -> Ending:
        if self.state == "DONE" and self.effects:
            return Ending.DONE
        if self.state == "IN_DOUBT" and self.reasons:
            return Ending.IN_DOUBT
        if self.state in _NOTHING_HAPPENED and self.reasons:
            return Ending.DEAD_LETTERED
        return Ending.LOST  # also a record DONE without an effect, and one that stays IN_PROGRESS

    @property
    def violations(self) -> list[str]:
        found = []
        if self.ending is Ending.LOST:
            found.append(f"lost: record {self.state}, {self.effects} effects, reasons {self.reasons}")
        if self.effects > 1:
            found.append(f"{self.effects} effects")
        if self.state in _NOTHING_HAPPENED and self.effects:
            found.append(f"record {self.state} says that nothing happened, but it did")
        return [f"{self.event} ({self.kind}): {violation}" for violation in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one deployment made of its events. `skipped` counts deliveries, everything else events.

    `other_reasons` are those of dead letters that are no event's own: a delivery that contradicts its event.
    `counts` are what a workload counts beyond what all have in common, by their names in the report.
    `moments` are what was seen of an event, by event.
    """

    stories: tuple[Told, ...]
    deliveries: int
    skipped: int
    seconds: float
    problems: tuple[str, ...] = field(default=())
    other_reasons: tuple[str, ...] = field(default=())
    counts: Mapping[str, int] = field(default_factory=dict)
    moments: Mapping[str, Sequence[Moment]] = field(default_factory=dict)
    walked: Walked | None = None

    def report(self) -> dict[str, Any]:
        endings = Counter(story.ending for story in self.stories)
        repeated = [story.repeated for story in self.stories]
        violations = [violation for story in self.stories for violation in story.violations]
        reasons = [*self.other_reasons, *(reason for story in self.stories for reason in story.reasons)]
        report: dict[str, Any] = {
            "events": len(self.stories),
            "deliveries": self.deliveries,
            "effects": sum(story.effects for story in self.stories),
            "max_effects_per_event": max(repeated, default=0),
            "done": endings[Ending.DONE],
            "skipped": self.skipped,
            "dead_lettered": endings[Ending.DEAD_LETTERED],
            "in_doubt": endings[Ending.IN_DOUBT],
            "lost": endings[Ending.LOST],
            "doubled": sum(times > 1 for times in repeated),
            **self.counts,
            "dead_letter_reasons": dict(sorted(Counter(reasons).items())),
            "seconds": round(self.seconds, 1),
            "violations": [*violations, *self.problems],
        }
        report["verdict"] = "failed" if report["violations"] else "ok"
        return report


def alone(run: Run, *, seconds: float, **about: Any) -> dict[str, Any]:
    """The report over the one deployment that there is."""
    return {**about, **replace(run, seconds=seconds).report(), **seen({"": run})}


def together(runs: dict[str, Run], *, seconds: float, **about: Any) -> dict[str, Any]:
    """The report over several deployments, each event counted once, with each one's own beside it."""
    everything = Run(
        stories=tuple(story for run in runs.values() for story in run.stories),
        deliveries=sum(run.deliveries for run in runs.values()),
        skipped=sum(run.skipped for run in runs.values()),
        seconds=seconds,
        problems=tuple(problem for run in runs.values() for problem in run.problems),
        other_reasons=tuple(reason for run in runs.values() for reason in run.other_reasons),
        counts={
            name: sum(run.counts.get(name, 0) for run in runs.values())
            for name in dict.fromkeys(name for run in runs.values() for name in run.counts)
        },
    )
    return {
        **about,
        **everything.report(),
        "by_semantics": {name: run.report() for name, run in runs.items()},
        **seen(runs),
    }


def seen(runs: Mapping[str, Run]) -> dict[str, Any]:
    """What pictures are drawn from, by deployment: each event's story, what was walked of the workflow."""
    return {
        "workflow": {name: run.walked.report() for name, run in runs.items() if run.walked},
        "each_event": [
            {
                "event": story.event,
                "deployment": name,
                "kind": str(story.kind),
                "ending": str(story.ending),
                "state": story.state,
                "effects": story.effects,
                "reasons": list(story.reasons),
                "violations": story.violations,
                "moments": [moment.report() for moment in run.moments.get(story.event, ())],
            }
            for name, run in runs.items()
            for story in run.stories
        ],
    }
