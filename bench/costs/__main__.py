"""`python -m bench.costs`: counts in the sandbox what events take, and says what they cost on AWS.

Writes build/bench/measured.json; with --document also docs/costs.md and the counts that it stands on.
"""

import argparse
import sys

from rich.console import Console

from bench import documented, part
from bench.costs import assumed, measured, measuring, prices, report
from bench.costs.measured import LATEST, RECORDED, Measured
from bench.costs.model import Model
from bench.costs.setting import shipped
from sandbox.command import run
from sandbox.demo.progress import Progress

_EVENTS, _FEW = 20, 3
_WIDTH = 160  # of a table in a log


def main() -> int:
    chosen = _arguments()
    console = Console(soft_wrap=True, width=None if sys.stdout.isatty() else _WIDTH)
    found = measured.read(RECORDED) if chosen.recorded else _measure(console, quick=chosen.quick)
    model = Model(measured=found, assumed=assumed.read(), prices=prices.read())
    parts = report.parts(model, shipped())
    part.show(parts, console)
    if chosen.document:
        found.write(RECORDED)
        documented.put(report.COSTS, part.sections(parts))
    elif not (chosen.recorded or chosen.quick):
        _compare(found, console)
    return 0


def _measure(console: Console, *, quick: bool) -> Measured:
    found = measuring.measure(Progress(console), events=_FEW if quick else _EVENTS)
    if not quick:
        found.write(LATEST)
    return found


def _compare(found: Measured, console: Console) -> None:
    """With what docs/costs.md stands on."""
    changed = measured.drift(measured.read(RECORDED), found)
    for line in changed:
        console.print(f"[yellow]![/] {line}", highlight=False)
    if changed:
        console.print("`python -m bench.costs --document` brings docs/costs.md up to date", highlight=False)
    else:
        console.print("[green]✓[/] the same counts as in docs/costs.md", highlight=False)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.costs", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few events, nothing written: does it work?")
    parser.add_argument("--recorded", action="store_true", help="the counts that docs/costs.md stands on")
    parser.add_argument("--document", action="store_true", help="put the tables into docs/costs.md")
    arguments = parser.parse_args()
    if arguments.quick and (arguments.document or arguments.recorded):
        parser.error("--quick measures nothing worth documenting")
    return arguments


if __name__ == "__main__":
    run("bench.costs", main)
