"""Registrations under their storm: a crash, runs that overlap, single events, a sweep."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from registrations.service import Ending as Outcome
from sandbox.demo import registrations_events, registrations_sweep
from sandbox.demo.beside import beside
from sandbox.demo.both_semantics import AT_MOST_ONCE
from sandbox.demo.journal import What
from sandbox.demo.registrations_deployment import Registrations
from sandbox.demo.registrations_events import Sighting
from sandbox.demo.registrations_plan import (
    NO_REGISTRATIONS,
    REFUSED,
    Kind,
    PlannedRegistration,
    RegistrationsPlan,
)
from sandbox.demo.registrations_steps import Steps, held, latest, reclaimed, settled, status
from sandbox.demo.registrations_sweep import Gardener
from sandbox.demo.storm import Storm
from sandbox.demo.tally import Ending, Run, Story
from sandbox.demo.walk import Walked, decided
from sandbox.downstream import Downstream

_SETTLED_WITHIN_SECONDS = 240
_LONGEST_LEASE_SECONDS = 120
_EXPIRED, _NOT_NOTIFIED = "EXPIRED", "EXPIRED_NOTIFICATION_FAILED"


class RegistrationsStorm(Storm[PlannedRegistration]):
    """`registry` honours idempotency keys only where the semantics ask for it."""

    refused: Mapping[str, str] = REFUSED
    """The reason that a kind must have in the dead-letter queue."""

    def __init__(
        self,
        semantics: str,
        plan: RegistrationsPlan,
        deployment: Registrations,
        *,
        registry: Downstream,
        notifications: Downstream,
        gardener: Gardener,
    ) -> None:
        super().__init__(plan.events, deployment)
        self._semantics = semantics
        self._plan = plan
        self._registrations = deployment
        self._registry = registry
        self._notifications = notifications
        self._gardener = gardener
        self._answers: list[dict[str, int]] = []  # of runs over the whole document
        self._told = 0
        self._sweeps: list[dict[str, int]] = []
        self._published: Sequence[Any] = ()
        self._planned = {event.id for event in plan.events}

    @property
    def progress(self) -> str:
        return f"{len(self._answers)} runs, {self._told} events, {self.effects} effects ({self.doing})"

    @property
    def effects(self) -> int:
        return self._registry.effects_by_key().total()

    def _unfold(self) -> None:
        self._crash()
        self._overlap()
        self._run_until(lambda steps: settled(steps) or held(steps))
        self._tell([*(registration.entry for registration in self._plan.later), *self._plan.refused_details])
        self.doing = "planting what is to be swept"
        self._gardener.plant()
        self._await_leases()
        self._run_until(settled)
        self._run()  # has nothing left to do
        self.doing = "sweeping"
        self._sweeps += self._answered(self._registrations.sweep)
        self.doing = "at rest"

    def _crash(self) -> None:
        """Kills the processor half-way, while the registry, which has expired already, keeps it waiting."""
        self.doing = "waiting for the expiry whose worker is to be killed"
        victim = self._plan.victim
        self._publish(self._plan.first_document)
        self._note_run(time.monotonic())
        run = beside(self._registrations.run)
        self._kill("Processor", once=lambda: self._registry.calls_of(victim.key))
        if run.exception() is None:
            self.problems.append("the run whose worker was killed came to its end")

    def _overlap(self) -> None:
        """Two runs, and events that tell of the same registrations one by one."""
        self.doing = "two runs over the same document"
        self._publish(self._plan.document)
        runs = [beside(self._run) for _ in range(2)]
        self._tell([self._plan.victim.entry, *(each.entry for each in self._plan.overlapping)])
        for run in runs:
            run.result()

    def _tell(self, details: Iterable[Any]) -> None:
        told, at = list(details), time.monotonic()
        self._registrations.tell(told)
        self._told += len(told)
        for detail in told:
            self._note(detail, "told of by an event", at=at)

    def _run(self) -> None:
        at = time.monotonic()
        self._answers += self._answered(self._registrations.run)
        self._note_run(at)

    def _publish(self, document: Sequence[Any]) -> None:
        self._registrations.publish(document)
        self._published = document

    def _note_run(self, at: float) -> None:
        for entry in self._published:
            self._note(entry, "come upon by a run", at=at)

    def _note(self, entry: Any, told: str, *, at: float) -> None:
        """A delivery, unless it is of no registration that was planned."""
        id_ = str(entry.get("recordId")) if isinstance(entry, dict) else ""
        if id_ in self._planned:
            self.journal.write(id_, What.DELIVERY, told, at=at)

    def _answered(self, invoke: Callable[[], dict[str, int]]) -> list[dict[str, int]]:
        """What the function answered; nothing if it failed."""
        try:
            return [invoke()]
        except RuntimeError as failure:
            self.problems.append(str(failure))
            return []

    def _run_until(self, enough: Callable[[Steps], bool]) -> None:
        self.doing = "running until nothing is left to do"
        deadline = time.monotonic() + _SETTLED_WITHIN_SECONDS
        while left := self._left(enough):
            if time.monotonic() > deadline:
                self.problems.append(f"open after {_SETTLED_WITHIN_SECONDS} s: {', '.join(left)}")
                return
            self._run()

    def _left(self, enough: Callable[[Steps], bool]) -> list[str]:
        found = self._steps()
        return [event.id for event in self._events if not enough(found.get(event.id, {}))]

    def _await_leases(self) -> None:
        """Those of what the killed worker held."""
        self.doing = "waiting for the leases of the killed worker to end"
        leases = [latest(steps)["leaseUntil"] for steps in self._steps().values() if held(steps)]
        ends = max(leases, default=0) + self._registrations.margin_seconds
        time.sleep(min(max(0.0, ends - time.time()), _LONGEST_LEASE_SECONDS))

    def _steps(self) -> dict[str, Steps]:
        """By event."""
        found = self._registrations.steps()
        return {event.id: found[event.key] for event in self._events if event.key in found}

    def _judge(self, seconds: float) -> Run:
        steps, copies, lines = self._steps(), self._copies(), self._registrations.log_lines("Processor")
        of_events = registrations_events.take_letters(copies)
        stories = self._stories(
            _by_id(self._registry.effects_by_key()),
            {event: latest(each)["state"] for event, each in steps.items()},
            copies,
            refused=self.refused,
        )
        notified = _by_id(self._notifications.effects_by_key())
        for story, registration in zip(stories, self._events, strict=True):
            self._judge_notification(
                story,
                status(steps.get(story.event, {})),
                notified[story.event],
                told=_EXPIRED,
                failed=_NOT_NOTIFIED,
                refused=story.kind == Kind.NOT_NOTIFIED,
            )
            self._judge_calls(story, len(self._registry.calls_of(registration.key)))
            self._judge_report(story, steps.get(story.event, {}))
        runs = [line["counts"] for line in lines if line.get("message") == "run"]
        self._judge_runs(len(runs))
        self._judge_sweep()
        self._judge_events(of_events)
        outcomes = _outcomes(lines)
        return Run(
            stories=stories,
            deliveries=outcomes.total(),
            skipped=outcomes["skipped-completed"] + outcomes["skipped-in-flight"],
            seconds=seconds,
            problems=tuple(self.problems),
            other_reasons=tuple(str(reason) for _, reason in of_events),
            counts={
                "runs": len(runs),
                "scheduled_runs": len(runs) - len(self._answers),
                "notifications": notified.total(),
                "notification_failed": sum(status(each) == _NOT_NOTIFIED for each in steps.values()),
                "reclaimed": sum(map(reclaimed, steps.values())),
                "left_alone": len(self._plan.bystanders),
                **{name: n for sweep in self._sweeps for name, n in sweep.items()},
            },
        )

    def _look_back(self) -> Walked:
        self.journal.write_calls("registry", self._registry.calls, lambda each: _id(each.call.key))
        self.journal.write_calls(
            "notification", self._notifications.calls, lambda each: _id(each.call.key), beside=True
        )
        found = _outcomes(self._registrations.log_lines("Processor"))
        outcomes = {str(outcome): found[outcome] for outcome in Outcome}
        return decided("Processor", outcomes, by="looks at a registration, by runs and by events")

    def _judge_calls(self, story: Story, calls: int) -> None:
        """The victim: repeated under the same key, or in doubt and not repeated. Nothing at the last look."""
        if story.kind == Kind.KILLED:
            expected = (Ending.IN_DOUBT, True) if self._semantics == AT_MOST_ONCE else (Ending.DONE, False)
            if (story.ending, calls == 1) != expected:
                self.problems.append(f"{story.event} ({story.kind}): {story.ending} after {calls} calls")
        if story.kind == Kind.LAST_LOOK and calls:
            self.problems.append(f"{story.event} ({story.kind}): {calls} calls")

    def _judge_report(self, story: Story, steps: Steps) -> None:
        if story.state in ("FAILED", "IN_DOUBT") and not settled(steps):
            self.problems.append(f"{story.event} ({story.kind}): nobody was told that it is {story.state}")

    def _judge_events(self, dead: Sequence[Sighting]) -> None:
        self.problems += registrations_events.problems(dead, self._plan)

    def _judge_runs(self, runs: int) -> None:
        if runs <= len(self._answers):
            self.problems.append("the schedule never fired")
        self.problems += [
            f"a run found {answer['invalid']} entries that are no registrations"
            for answer in self._answers
            if answer["invalid"] != len(NO_REGISTRATIONS)
        ]
        if self._answers and self._answers[-1]["executed"]:
            self.problems.append("the last run still expired something")

    def _judge_sweep(self) -> None:
        found = self._registrations.steps()
        self.problems += registrations_sweep.problems(found)
        parameters = sum(len(steps) for steps in found.values())
        expected = registrations_sweep.counts(parameters)
        if self._sweeps != [expected]:
            self.problems.append(f"the sweeper says {self._sweeps} instead of {expected}")
        lines = self._registrations.log_lines("Sweeper")
        counted = [line["Parameters"] for line in lines if "Parameters" in line]
        if [parameters] not in counted:
            self.problems.append(f"the sweeper's metric counts {counted}, not {parameters} parameters")
        asked_for = {event.key for event in self._events} | registrations_sweep.NAMES
        self.problems += [f"a record of {key}, which nobody asked for" for key in found.keys() - asked_for]


def _outcomes(lines: Iterable[dict[str, Any]]) -> Counter[str]:
    """How often what became of a registration, each time that a run or an event came upon it."""
    found: Counter[str] = Counter()
    for line in lines:
        if "Registrations" in line:
            found[line["Outcome"]] += int(sum(line["Registrations"]))
    return found


def _by_id(effects: Counter[str]) -> Counter[str]:
    """What is counted by downstream idempotency key; a registration with two keys has the effects of both."""
    found: Counter[str] = Counter()
    for key, number in effects.items():
        found[_id(key)] += number
    return found


def _id(key: str) -> str:
    """The registration's in a downstream idempotency key: `RegistrationExpiry:<id>:<date>…`."""
    return unquote(key).split(":")[1]
