"""Registrations under chaos: runs and events whose calls fail, then at random, then a sweep that fails."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from sandbox.aws import Sandbox
from sandbox.chaos.blowing import Blowing
from sandbox.chaos.operation import Arm
from sandbox.demo import registrations_sweep
from sandbox.demo.beside import beside
from sandbox.demo.registrations_events import GAVE_UP, Sighting
from sandbox.demo.registrations_plan import PlannedRegistration
from sandbox.demo.registrations_steps import held, settled
from sandbox.demo.registrations_storm import RegistrationsStorm
from sandbox.demo.registrations_sweep import Gardener
from sandbox.demo.tally import Ending, Run

_KEYS_OF_EACH = 8  # as many as the sweeper must deal with until all faults of its calls are used up
_POURED_WITHIN_SECONDS = 150
_SWEPT_WITHIN_RUNS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A claim of long ago."""

    id: str


PLANTED = tuple(Planted(id=name) for name in registrations_sweep.names(keys_of_each=_KEYS_OF_EACH))


def gardener(sandbox: Sandbox, prefix: str) -> Gardener:
    return Gardener(sandbox.client("ssm"), prefix, now=int(time.time()), keys_of_each=_KEYS_OF_EACH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What became of a claim of long ago: gone as far as it should be, and no further."""

    event: str
    wrong: str | None
    kind: str = "claim of long ago"
    state: str | None = None
    effects: int = 0
    repeated: int = 0
    reasons: tuple[str, ...] = ()

    @property
    def ending(self) -> Ending:
        return Ending.LOST if self.wrong else Ending.DONE

    @property
    def violations(self) -> list[str]:
        return [self.wrong] if self.wrong else []


class RegistrationsChaos(Blowing[PlannedRegistration], RegistrationsStorm):
    functions = ("Processor",)
    refused = MappingProxyType[str, str]({})  # after a fault, what is refused may be in doubt

    def _unfold(self) -> None:
        self.doing = "one operation after the other fails"
        together = list(self.campaign.armed(Arm.SENDING))
        for each in together:
            for event in each.events:
                self.weather.arm(each, event)
        self._pour([event for each in together for event in each.events], seconds=_POURED_WITHIN_SECONDS)
        if self.campaign.at_random.events:
            with self._going_at_random():
                self._pour(self.campaign.at_random.events, seconds=self.at_random_seconds)
        self._publish([event.entry for event in self._events])
        self._tell(event.entry for event in self.campaign.later)
        swept = beside(self._sweep)
        self._await_leases()
        self._run_until(settled)
        swept.result()
        self.doing = "at rest"

    def _pour(self, events: Sequence[PlannedRegistration], *, seconds: float) -> None:
        """Runs over these, and tells of some, until each is settled or held."""
        again = {event.id for event in self.campaign.overlapping}
        self._publish([event.entry for event in events])
        runs = [beside(self._run) for _ in range(2)]
        self._tell(event.entry for event in events if event.id in again)
        for run in runs:
            run.result()
        deadline = time.monotonic() + seconds
        while self._open(events) and time.monotonic() < deadline:
            self._run()

    def _open(self, events: Sequence[PlannedRegistration]) -> bool:
        steps = self._steps()
        return any(not settled(own) and not held(own) for own in (steps.get(e.id, {}) for e in events))

    def _answered(self, invoke: Callable[[], dict[str, int]]) -> list[dict[str, int]]:
        """A run that failed is no problem here; the next one tries again."""
        try:
            return [invoke()]
        except RuntimeError:
            return []

    def _sweep(self) -> None:
        """Runs fail until all faults are used up, and then sweep what they left."""
        if not any(self.campaign.armed(Arm.SWEEPING)):
            return
        self._gardener.plant()
        for each in self.campaign.armed(Arm.SWEEPING):
            self.weather.arm(each, each.events[0])
        for _ in range(_SWEPT_WITHIN_RUNS):
            if self._answered(self._registrations.sweep) and self._used_up():
                return
        self.problems.append(f"not swept within {_SWEPT_WITHIN_RUNS} runs")

    def _used_up(self) -> bool:
        return all(self.weather.fired(each.name) for each in self.campaign.armed(Arm.SWEEPING))

    def _judge(self, seconds: float) -> Run:
        run = super()._judge(seconds)
        if not any(self.campaign.armed(Arm.SWEEPING)):
            return run
        steps = self._registrations.steps()
        wrong = registrations_sweep.wrong(steps, keys_of_each=_KEYS_OF_EACH, again=True)
        swept = (Swept(event=each.id, wrong=wrong.get(each.id)) for each in PLANTED)
        return replace(run, stories=(*run.stories, *swept))

    def _judge_events(self, dead: Sequence[Sighting]) -> None:
        """Only what was invoked in vain, each time that it was tried, may be dead: an event or a run."""
        events = (*self.campaign.overlapping, *self.campaign.later)
        told = {(None, GAVE_UP), *((event.id, GAVE_UP) for event in events)}
        self.problems += [f"a dead letter for an event of {id_}: {why}" for id_, why in {*dead} - told]

    def _judge_runs(self, runs: int) -> None:
        """They may fail here, and the schedule is the demo's."""

    def _judge_sweep(self) -> None:
        asked_for = {event.key for event in self._events} | {each.id for each in PLANTED}
        found = self._registrations.steps().keys() - asked_for
        self.problems += [f"a record of {key}, which nobody asked for" for key in found]
