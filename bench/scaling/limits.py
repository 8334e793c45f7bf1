"""What the hour needs of each quota and setting, by arithmetic: the smallest headroom is the first limit."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.scaling.assumed import Assumed
from bench.scaling.fluid import at_a_time
from bench.scaling.quotas import Quotas, Region
from bench.scaling.setup import RECEIVERS, Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """`moves`: the setting, or the quota, that moves it."""

    resource: str
    needed: float
    allowed: float
    sure: str
    moves: str

    @property
    def headroom(self) -> float:
        """So many times the load would fit; below 1 something waits."""
        return self.allowed / self.needed


def limits(setup: Setup, rate: float, quotas: Quotas, region: Region) -> list[Limit]:
    """Of a workload that gets so many events a second."""
    return [*_receiving(setup, rate, quotas, region), *_working(setup, rate, quotas, region)]


def first(found: list[Limit]) -> Limit:
    return min(found, key=lambda each: each.headroom)


def _receiving(setup: Setup, rate: float, quotas: Quotas, region: Region) -> Iterator[Limit]:
    if setup.workload == "orders":
        yield Limit(
            resource="requests a second, POST only",
            needed=rate,
            allowed=min(setup.gateway_rate, quotas.of("gateway_rate", region)),
            sure="setting",
            moves="api.rate_per_second, api.burst",
        )
        return
    yield Limit(
        resource=f"messages a second through {RECEIVERS[setup.workload]}",
        needed=rate,
        allowed=setup.received_per_second(),
        sure="setting",
        moves="delivery.max_concurrency, delivery.batch_size",
    )
    seconds = setup.seconds(RECEIVERS[setup.workload], effect=0, records=setup.batch_size)
    yield Limit(
        resource="messages in flight",
        needed=at_a_time(arriving=rate, seconds=seconds),
        allowed=quotas.of("in_flight", region),
        sure=quotas.by_name["in_flight"].sure,
        moves="shorter visibility for what fails",
    )


def _working(setup: Setup, rate: float, quotas: Quotas, region: Region) -> Iterator[Limit]:
    def quota(name: str, resource: str, needed: float, moves: str) -> Limit:
        sure = quotas.by_name[name].sure
        return Limit(
            resource=resource, needed=needed, allowed=quotas.of(name, region), sure=sure, moves=moves
        )

    if setup.states:
        yield quota("start_rate", "StartExecution a second", rate, "quota; or the workload charges")
        yield quota(
            "transition_rate",
            "state transitions a second",
            len(setup.states) * rate,
            "quota; or the workload charges",
        )
    yield quota("lambda_concurrency", "invocations at a time", at_once(setup, rate), "quota; shorter effects")
    yield quota("new_table_writes", "writes a second", setup.writes * rate, "warm throughput of the table")


def at_once(setup: Setup, rate: float, *, effect: float = 0) -> float:
    """Invocations at a time, by Little's law; `effect`: how much longer than usual the downstream takes."""
    records = setup.batch_size
    receiver = setup.seconds(RECEIVERS[setup.workload], effect=effect, records=records)
    found = at_a_time(arriving=rate / records, seconds=receiver)
    if setup.max_concurrency:
        found = min(found, setup.max_concurrency)
    return found + sum(
        at_a_time(arriving=rate, seconds=setup.seconds(function, effect=effect))
        for function in setup.states
        if function
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Why Parameter Store can't: how many events a day fit, and what the average would take of it."""

    events_a_day: float
    full_after_seconds: float
    writes_a_second: float


PARAMETERS_OF_A_KEY = 2


def parameters(assumed: Assumed, quotas: Quotas, *, retention_days: int) -> Parameters:
    keys = quotas.of("parameters", "large") / PARAMETERS_OF_A_KEY
    return Parameters(
        events_a_day=keys / retention_days,
        full_after_seconds=keys / assumed.average_rate,
        writes_a_second=PARAMETERS_OF_A_KEY * assumed.average_rate,
    )
