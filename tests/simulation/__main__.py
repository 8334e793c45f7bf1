"""`python -m tests.simulation`: many schedules, every mutant, every state of small scopes.

Prints tables and writes a file. Exit status 0 only if no schedule and no state breaks an invariant, and
every mutant does.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.simulation import documented, runs
from tests.simulation.mutants import MUTANTS
from tests.simulation.runs import Caught, Findings, Searched
from tests.simulation.scheduler import Violation
from tests.simulation.scopes import SCOPES
from tests.simulation.worlds import WORKLOADS

REPORT = Path(__file__).resolve().parents[2] / "build" / "simulation" / "report.json"
_SCHEDULES = 25_000  # of each workload
_BETWEEN_LINES = 20  # seconds
_WIDTH = 160  # of a table in a log


def main() -> int:
    chosen = _arguments()
    console = Console(soft_wrap=True, width=None if sys.stdout.isatty() else _WIDTH)
    if chosen.seed is not None:
        return _replay(chosen.workload, chosen.seed, console)
    workloads = list(WORKLOADS) if chosen.workload == "all" else [chosen.workload]
    begun = time.monotonic()
    report: dict[str, Any] = {}
    ok = _schedules(workloads, chosen, console, report)
    if chosen.only in (None, "scopes"):
        ok &= _scopes(workloads, console, report)
    if chosen.only in (None, "mutants"):
        ok &= _mutants(workloads, console, report)
    report |= {"seconds": round(time.monotonic() - begun), "verdict": "ok" if ok else "failed"}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2) + "\n")
    if chosen.document:
        documented.write(report)
    console.print(f"verdict: {report['verdict']}", style="green" if ok else "bold red")
    console.print(f"[dim]{REPORT.relative_to(REPORT.parents[2])}[/]", highlight=False)
    return int(not ok)


def _schedules(
    workloads: list[str], chosen: argparse.Namespace, console: Console, report: dict[str, Any]
) -> bool:
    if chosen.only not in (None, "schedules"):
        return True
    table = _table(
        "schedules, each decided by its seed", "", "schedules", "steps", "effects repeated", "violations"
    )
    ok = True
    for workload in workloads:
        found, seeds = Findings(), range(chosen.first, chosen.first + chosen.schedules)
        with _bar(console, workload, len(seeds)) as advance:
            for part in runs.simulate_all(workload, seeds):
                found.add(part)
                advance(part.schedules)
                if part.violation:
                    break
        repeated = found.seen["second effect"] + found.seen["effect repeated under its key"]
        bad = found.violation is not None
        cells = (found.schedules, found.steps, repeated, int(bad))
        table.add_row(workload, *(f"{cell:,}" for cell in cells), style="red" if bad else "")
        report.setdefault("schedules", {})[workload] = {
            "schedules": found.schedules,
            "steps": found.steps,
            "seen": dict(found.seen.most_common()),
            "violation": found.violation,
        }
        if found.violation:
            _show(workload, found.violation, console)
            ok = False
    console.print(table)
    return ok


def _scopes(workloads: list[str], console: Console, report: dict[str, Any]) -> bool:
    """All interleavings."""
    table = _table("small scopes, every state", "", "semantics", "states", "schedules")
    chosen = [number for number, scope in enumerate(SCOPES) if scope.name.partition(":")[0] in workloads]
    tasks = [(number, semantics) for number in chosen for semantics in SCOPES[number].semantics]
    found: list[Searched] = []
    with _bar(console, "small scopes", len(tasks)) as advance:
        for each in runs.in_parallel(runs.search, tasks):
            found.append(each)
            advance(1)
    for each in sorted(found, key=lambda each: (each.scope, each.semantics)):
        counts = each.explored.states, each.explored.schedules
        style = "red" if each.violation else ""
        table.add_row(each.scope, each.semantics, *(f"{count:,}" for count in counts), style=style)
        if each.violation:
            console.print(f"{each.scope}, {each.semantics}: {each.violation}", markup=False, highlight=False)
    report["scopes"] = [asdict(each) for each in found]
    console.print(table)
    return not any(each.violation for each in found)


def _mutants(workloads: list[str], console: Console, report: dict[str, Any]) -> bool:
    table = _table(
        "mutants: deliberate faults, and what showed them", "fault", "workload", "seed", "shown by"
    )
    tasks = [(number,) for number, each in enumerate(MUTANTS) if set(each.workloads) & set(workloads)]
    caught: list[Caught] = []
    with _bar(console, "mutants", len(tasks)) as advance:
        for found in runs.in_parallel(runs.hunt, tasks):
            caught.append(found)
            advance(1)
    for each in sorted(caught, key=lambda each: (each.workload, each.mutant)):
        shown = each.invariant or "nothing: an invariant is missing"
        seed = "" if each.seed is None else str(each.seed)
        style = "" if each.invariant else "red"
        table.add_row(documented.in_words(each.mutant), each.workload, seed, shown[:120], style=style)
    report["mutants"] = [asdict(each) for each in caught]
    console.print(table)
    return all(each.invariant for each in caught)


def _replay(workload: str, seed: int, console: Console) -> int:
    """One schedule, told step by step."""
    world = WORKLOADS[workload].made(seed)
    try:
        world.run()
    except Violation as violation:
        console.print(str(violation), markup=False, highlight=False)
        return 1
    console.print("\n".join(world.scheduler.trace), markup=False, highlight=False)
    return 0


def _show(workload: str, violation: tuple[int, str], console: Console) -> None:
    seed, trace = violation
    console.print(trace, markup=False, highlight=False)
    console.print(f"again: make simulate WORKLOAD={workload} SEED={seed}", style="bold red")


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        right = column in ("schedules", "steps", "effects repeated", "violations", "states", "seed")
        table.add_column(column, justify="right" if right else "left")
    return table


@contextmanager
def _bar(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, a line now and then elsewhere."""
    if console.is_terminal:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, console=console) as progress:
            task = progress.add_task(what, total=total)
            yield lambda steps: progress.advance(task, steps)
        return
    done, told, begun = 0, 0.0, time.monotonic()

    def advance(steps: int) -> None:
        nonlocal done, told
        done += steps
        now = time.monotonic() - begun
        if done == total or now > told + _BETWEEN_LINES:
            told = now
            console.print(f"{now:6.1f} s  {what}: {done:,} of {total:,}", highlight=False)

    yield advance


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--workload", choices=[*WORKLOADS, "all"], default="all", help="default: %(default)s")
    parser.add_argument(
        "--schedules", type=int, default=_SCHEDULES, help="of each workload; default: %(default)s"
    )
    parser.add_argument("--first", type=int, default=0, help="seed of the first schedule")
    parser.add_argument("--only", choices=["schedules", "scopes", "mutants"], help="leave the others out")
    parser.add_argument("--seed", type=int, help="tell this one schedule of one workload, step by step")
    parser.add_argument("--document", action="store_true", help="put the figures into docs/proof.md, too")
    chosen = parser.parse_args()
    if chosen.seed is not None and chosen.workload == "all":
        parser.error("--seed needs a --workload")
    return chosen


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("simulation: interrupted")
