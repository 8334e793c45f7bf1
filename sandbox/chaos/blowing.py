"""What the storms of all workloads have when chaos blows: a campaign, faults, crashes; and their verdict."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic

from sandbox.aws import Sandbox
from sandbox.chaos.campaign import Campaign
from sandbox.chaos.crashes import Crashes
from sandbox.chaos.faults import Patience
from sandbox.chaos.operation import Operation
from sandbox.chaos.verdict import seen_in_rounds, verdict
from sandbox.chaos.weather import Weather
from sandbox.demo.both_semantics import blown
from sandbox.demo.plan import E
from sandbox.demo.progress import Progress
from sandbox.demo.storm import Storm
from sandbox.faults import Faults


class Blowing(Storm[E], Generic[E]):
    """To be mixed into a workload's storm, which judges; `prepare` comes before it blows."""

    at_random_seconds = 25

    functions: Sequence[str]
    """By their construct ids, those that are killed."""

    def prepare(
        self,
        campaign: Campaign[E],
        operations: Sequence[Operation],
        faults: Faults,
        chance: random.Random,
    ) -> None:
        self.campaign = campaign
        self.operations = operations
        patience = Patience.of(self._deployment.environment(self.functions[0]))
        self.weather = Weather(faults, patience, self._deployment.outputs)
        self._crashes = Crashes(self._deployment, self.functions, chance)

    @property
    def killed(self) -> int:
        return self._crashes.killed

    @contextmanager
    def _going_at_random(self) -> Iterator[None]:
        """While the block runs, every operation fails now and then, and workers are killed."""
        self.doing = "all operations fail at random, workers are killed"
        self.weather.unsettle(self.operations)
        try:
            with self._crashes.happening():
                yield
        finally:
            self.weather.calm()


def blow(storms: Mapping[str, Blowing[Any]], sandbox: Sandbox, progress: Progress) -> dict[str, Any]:
    """Lets them blow over their deployments at the same time; answers the verdict."""
    rounds = sum(len(storm.campaign.rounds) for storm in storms.values())
    progress.step(f"{rounds} rounds, one operation after the other, then all at random")
    runs = blown(storms, progress)
    progress.step("counting")
    judged = verdict(
        {name: storm.campaign for name, storm in storms.items()},
        runs,
        {
            (name, each.name): storm.weather.fired(each.name)
            for name, storm in storms.items()
            for each in storm.campaign.all_rounds
        },
        calls=sandbox.faults.calls(),
        tried={operation.called for storm in storms.values() for operation in storm.operations},
    )
    progress.step("stopping the AWS on this machine")
    killed = sum(storm.killed for storm in storms.values())
    return {"killed": killed, **judged, **seen_in_rounds({n: s.campaign for n, s in storms.items()}, runs)}
