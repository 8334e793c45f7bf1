"""`python -m bench`: measures this project against what people would use instead; one table a row.

Writes build/bench/report.json. Exit status 0 whether a goal is met or not: a busy machine is no fault.
"""

import argparse
import importlib
import pkgutil
import sys
import time
from collections.abc import Iterator
from typing import Protocol, cast

from rich.console import Console

from bench import report, rows
from bench.row import Row
from sandbox.command import run
from sandbox.demo.progress import Progress

_WIDTH = 160  # of a table in a log
ROWS = tuple(module.name.replace("_", "-") for module in pkgutil.iter_modules(rows.__path__))
_ON_REQUEST = frozenset({"second-run"})  # takes as long as all others together


class Measurement(Protocol):
    """A module of `bench.rows`."""

    def measure(self, progress: Progress, *, quick: bool) -> Row:
        """`quick`: few rounds, to see that it works; its figures mean little."""


def main() -> int:
    chosen = _arguments()
    console = Console(soft_wrap=True, width=None if sys.stdout.isatty() else _WIDTH)
    begun, progress = time.monotonic(), Progress(console)
    measured: dict[str, Row] = {}
    for name, measurement in _measurements(chosen.only or [name for name in ROWS if name not in _ON_REQUEST]):
        progress.step(name.replace("-", " "))
        measured[name] = measurement.measure(progress, quick=chosen.quick)
        report.show(measured[name], console)
        if not chosen.quick:
            report.write({name: measured[name]}, seconds=time.monotonic() - begun)
    if chosen.document:
        report.document(measured)
    if not chosen.quick:
        console.print(f"[dim]{report.REPORT.relative_to(report.REPORT.parents[2])}[/]", highlight=False)
    return 0


def _measurements(names: list[str]) -> Iterator[tuple[str, Measurement]]:
    for name in names:
        module = importlib.import_module(f"{rows.__name__}.{name.replace('-', '_')}")
        yield name, cast("Measurement", module)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--quick", action="store_true", help="few rounds, nothing written: does it work?")
    parser.add_argument("--document", action="store_true", help="put the rows into docs/performance.md")
    arguments = parser.parse_args()
    if arguments.quick and arguments.document:
        parser.error("--quick measures nothing worth documenting")
    return arguments


if __name__ == "__main__":
    run("bench", main)
