"""What befalls a workload during the hour: its load, and what its downstream does meanwhile."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bench.scaling.assumed import Assumed
from bench.scaling.quotas import REGIONS, Region
from bench.scaling.setup import Setup, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Rates are per second; `effect`: how much longer than usual the downstream takes; it may be down."""

    title: str
    average: float
    peak: float
    effect: float = 0
    down: bool = False
    lead_seconds: float = 120
    """At the average, before the hour."""
    peak_seconds: float = 3600

    def rate(self, now: float) -> float:
        return self.peak if self.in_peak(now) else self.average

    def in_peak(self, now: float) -> bool:
        return self.lead_seconds <= now < self.end

    @property
    def end(self) -> float:
        """Of the hour."""
        return self.lead_seconds + self.peak_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A scenario for one workload in one group of Regions; `changed`: settings that are not as shipped."""

    scenario: Scenario
    setup: Setup
    region: Region
    changed: str = ""

    @property
    def name(self) -> str:
        told = f"{self.setup.workload}, {self.region}: {self.scenario.title}"
        return f"{told}; {self.changed}" if self.changed else told


def scenarios(assumed: Assumed) -> dict[str, Scenario]:
    hour = Scenario(
        title="tenfold hour",
        average=assumed.average_rate,
        peak=assumed.peak_rate,
        peak_seconds=assumed.month_end_seconds,
    )
    slow = assumed.slow_effect_seconds
    slower = assumed.slower_effect_seconds
    return {
        "hour": hour,
        "on top": replace(hour, title="on top of the average", peak=hour.peak + hour.average),
        "slow": replace(hour, title=f"effects take {slow:g} s", effect=slow - assumed.effect_seconds),
        "slower": replace(hour, title=f"effects take {slower:g} s", effect=slower - assumed.effect_seconds),
        "down": replace(hour, title="downstream refuses", down=True),
    }


def cases(assumed: Assumed, setups: dict[Workload, Setup]) -> Iterator[Case]:
    """As shipped, where they tell something; then with what moves, or seems to move, a limit."""
    found = scenarios(assumed)
    shipped: tuple[tuple[Workload, Region, tuple[str, ...]], ...] = (
        ("charges", "large", ("hour", "slow", "down")),  # no executions: the same everywhere
        ("ingestion", "large", ("hour", "on top", "slow", "slower", "down")),
        ("ingestion", "other", ("hour",)),
        ("orders", "large", ("hour",)),
        ("orders", "other", ("hour",)),
    )
    for workload, region, names in shipped:
        for name in names:
            yield Case(scenario=found[name], setup=setups[workload], region=region)
    yield from _changed(found, setups)


def _changed(found: dict[str, Scenario], setups: dict[Workload, Setup]) -> Iterator[Case]:
    def case(name: str, workload: Workload, region: Region, told: str, **changed: Any) -> Case:
        setup = replace(setups[workload], **changed)
        return Case(scenario=found[name], setup=setup, region=region, changed=told)

    yield case("hour", "ingestion", "other", "max_concurrency 20", max_concurrency=20)
    yield case("slow", "charges", "large", "max_concurrency 60", max_concurrency=60)
    yield case("down", "charges", "large", "max_receive_count 12", max_receive_count=12)
    for region in REGIONS:
        yield case("hour", "orders", region, "rate_per_second 300", gateway_rate=300, gateway_burst=600)
