"""Many schedules, many mutants, every state of small scopes, on all processors."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import pytest

import tests.conftest  # noqa: F401 - an environment that is nobody's, in every process
from idempotency.model import Semantics
from tests.simulation.exhaustive import Explored
from tests.simulation.mutants import MUTANTS
from tests.simulation.scheduler import Violation
from tests.simulation.scopes import SCOPES
from tests.simulation.worlds import WORKLOADS

T = TypeVar("T")

MUTANT_SCHEDULES = 2_000  # of a workload: within so many a mutant has to be found
SEEDS = Path(__file__).parent / "mutants" / "seeds.json"
"""Which schedule showed each mutant; `python -m tests.simulation --document` writes it."""
_AT_A_TIME = 100  # schedules


@dataclass(slots=True, kw_only=True)
class Findings:
    """Of some schedules. `violation` is that of the lowest seed that has one."""

    schedules: int = 0
    steps: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    violation: tuple[int, str] | None = None

    def add(self, other: "Findings") -> None:
        self.schedules += other.schedules
        self.steps += other.steps
        self.seen += other.seen
        found = [each for each in (self.violation, other.violation) if each]
        self.violation = min(found) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught:
    """`seed` and `invariant` are None where no schedule showed the fault."""

    mutant: str
    workload: str
    seed: int | None = None
    invariant: str | None = None


@dataclass(slots=True, kw_only=True)
class Searched:
    scope: str
    semantics: Semantics
    explored: Explored = field(default_factory=Explored)
    violation: str | None = None


def simulate(workload: str, seeds: Iterable[int]) -> Findings:
    """Until the first violation."""
    findings = Findings()
    for seed in seeds:
        world = WORKLOADS[workload].made(seed)
        try:
            world.run()
        except Violation as violation:
            findings.violation = seed, str(violation)
            return findings
        findings.schedules += 1
        findings.steps += world.scheduler.steps
        findings.seen += world.seen
    return findings


def hunt(number: int, recorded: bool = False) -> Caught:
    """The mutant of this number, until a schedule shows it.

    `recorded`: the schedule that showed it when that was last written down is tried before all others.
    """
    hunted = MUTANTS[number]
    name = hunted.mutant.__name__
    tried: list[tuple[str, Sequence[int]]] = [(each, range(MUTANT_SCHEDULES)) for each in hunted.workloads]
    if recorded and name in (record := _record()):
        tried.insert(0, record[name])
    with pytest.MonkeyPatch.context() as patch:
        hunted.mutant(patch)
        for workload, seeds in tried:
            if violation := simulate(workload, seeds).violation:
                seed, trace = violation
                shown = trace.partition("\n")[0]
                return Caught(mutant=name, workload=workload, seed=seed, invariant=shown)
    return Caught(mutant=name, workload=" or ".join(hunted.workloads))


def _record() -> dict[str, tuple[str, Sequence[int]]]:
    """By mutant, the workload and the seed that showed it."""
    found = json.loads(SEEDS.read_text(encoding="utf-8"))
    return {name: (each["workload"], [each["seed"]]) for name, each in found.items()}


def search(number: int, semantics: Semantics) -> Searched:
    """The scope of this number, to its end or to the first violation."""
    searched = Searched(scope=SCOPES[number].name, semantics=semantics)
    try:
        searched.explored = SCOPES[number].explore(semantics)
    except Violation as violation:
        searched.violation = str(violation)
    return searched


def simulate_all(workload: str, seeds: range, *, jobs: int | None = None) -> Iterator[Findings]:
    """Part by part, as they come."""
    parts = [seeds[start : start + _AT_A_TIME] for start in range(0, len(seeds), _AT_A_TIME)]
    yield from in_parallel(simulate, [(workload, part) for part in parts], jobs=jobs)


def in_parallel(
    work: Callable[..., T], tasks: Sequence[tuple[Any, ...]], *, jobs: int | None = None
) -> Iterator[T]:
    """Results as they come. Whoever stops listening stops what has not begun."""
    workers = min(jobs or os.cpu_count() or 1, len(tasks) or 1)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(work, *task) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)
