"""`python -m bench.scaling`: what a tenfold hour needs of AWS's quotas, and what piles up where they end.

Simulates all hours (a minute or so of one processor); with --document also
writes docs/scaling.md, its picture, and the outcomes that they stand on.
"""

import argparse
import sys
from collections.abc import Iterable

from rich.console import Console

from bench import documented, part
from bench.scaling import assumed, chart, outcome, quotas, report
from bench.scaling.outcome import Outcome
from bench.scaling.scenario import Case, cases
from bench.scaling.setup import setups
from bench.scaling.simulation import simulate
from sandbox.command import run
from sandbox.demo.progress import Progress

_WIDTH = 200  # of a table in a log


def main() -> int:
    chosen = _arguments()
    console = Console(soft_wrap=True, width=None if sys.stdout.isatty() else _WIDTH)
    load, ours = assumed.read(), setups()
    found = outcome.read() if chosen.recorded else _simulate(list(cases(load, ours)), Progress(console))
    known = report.Known(assumed=load, quotas=quotas.read(), setups=ours, simulated=found)
    parts = report.parts(known)
    part.show(parts, console)
    if chosen.document:
        outcome.write(found)
        chart.CHART.write_text(report.picture(known), encoding="utf-8")
        documented.put(report.SCALING, part.sections(parts))
    elif not chosen.recorded:
        _compare(found, console)
    return 0


def _simulate(of: Iterable[Case], progress: Progress) -> dict[str, Outcome]:
    found, limited, load = {}, quotas.read(), assumed.read()
    for case in of:
        progress.step(case.name)
        found[case.name] = simulate(case, limited, load)
    return found


def _compare(found: dict[str, Outcome], console: Console) -> None:
    """With what docs/scaling.md stands on."""
    recorded = outcome.read()
    changed = [name for name in found if found[name] != recorded.get(name)]
    for name in changed:
        console.print(f"[yellow]![/] {name} is no more as documented", highlight=False)
    if changed:
        console.print(
            "`python -m bench.scaling --document` brings docs/scaling.md up to date", highlight=False
        )
    else:
        console.print("[green]✓[/] the same outcomes as in docs/scaling.md", highlight=False)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scaling", description=__doc__)
    parser.add_argument("--recorded", action="store_true", help="the outcomes that docs/scaling.md stands on")
    parser.add_argument("--document", action="store_true", help="put the tables into docs/scaling.md")
    return parser.parse_args()


if __name__ == "__main__":
    run("bench.scaling", main)
