"""The account and the hour that a simulated workload shares with its own parts."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import simpy

from bench.scaling.assumed import Assumed
from bench.scaling.books import Books
from bench.scaling.buckets import Concurrency, TokenBucket
from bench.scaling.quotas import Quotas
from bench.scaling.scenario import Case


@dataclass(slots=True)
class World:
    """Nobody else uses the account's quotas; the table is new, and has 1 s of its throughput in hand."""

    case: Case
    quotas: Quotas
    assumed: Assumed
    random: Random
    env: Any = field(default_factory=simpy.Environment)
    books: Books = field(default_factory=Books)
    starts: TokenBucket = field(init=False)
    transitions: TokenBucket = field(init=False)
    table: TokenBucket = field(init=False)
    concurrency: Concurrency = field(init=False)

    def __post_init__(self) -> None:
        self.starts = TokenBucket(self.quota("start_bucket"), self.quota("start_rate"))
        self.transitions = TokenBucket(self.quota("transition_bucket"), self.quota("transition_rate"))
        self.table = TokenBucket(self.quota("new_table_writes"), self.quota("new_table_writes"))
        self.concurrency = Concurrency(int(self.quota("lambda_concurrency")))

    def quota(self, name: str) -> float:
        return self.quotas.of(name, self.case.region)

    @property
    def now(self) -> float:
        return float(self.env.now)

    @property
    def down(self) -> bool:
        """Whether the downstream refuses connections at this moment."""
        return self.case.scenario.down and self.case.scenario.in_peak(self.now)

    @property
    def effect(self) -> float:
        """How much longer than usual the downstream takes at this moment; it refuses at once."""
        if not self.case.scenario.in_peak(self.now):
            return 0.0
        return -self.assumed.effect_seconds if self.case.scenario.down else self.case.scenario.effect

    def start(self, number: int) -> int:
        """How many of so many executions StartExecution takes now."""
        granted = self.starts.take(self.now, number)
        self.books.tries += number
        self.books.throttled += number - granted
        return granted
