"""`python -m sandbox.chaos`: every AWS operation of each workload fails in every way; exit status 0 only if
no event was lost or doubled, every fault came about, and no operation was left out.
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console

from sandbox.chaos import charges, ingestion, orders, registrations, report
from sandbox.chaos.campaign import Order
from sandbox.command import run
from sandbox.demo.progress import Progress
from sandbox.deployment import PROJECT

_WORKLOADS: dict[str, Callable[..., dict[str, Any]]] = {
    "ingestion": ingestion.run,
    "charges": charges.run,
    "registrations": registrations.run,
    "orders": orders.run,
}

_WIDTH = 160  # of a table in a log


def main() -> int:
    chosen = _arguments()
    console = Console(soft_wrap=True, width=None if sys.stdout.isatty() else _WIDTH)
    order = Order(events=chosen.events, seed=chosen.seed, only=tuple(chosen.only))
    found = []
    for workload in _WORKLOADS if chosen.workload == "all" else [chosen.workload]:
        found.append(_WORKLOADS[workload](order=order, progress=Progress(console)))
        report.show(found[-1], console)
        good = found[-1]["verdict"] == "ok"
        console.print(report.verdict(found[-1]), style="green" if good else "bold red")
        paths = report.write(found, seed=chosen.seed), report.draw(found)
    for path in paths:
        console.print(f"[dim]{path.relative_to(PROJECT)}[/]", highlight=False)
    return int(any(each["verdict"] != "ok" for each in found))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sandbox.chaos", description=__doc__)
    parser.add_argument(
        "--workload", choices=[*_WORKLOADS, "all"], default="all", help="default: %(default)s"
    )
    parser.add_argument(
        "--events",
        type=int,
        choices=range(1, 21),
        default=2,
        metavar="N",
        help="of each round; default: %(default)s",
    )
    parser.add_argument("--seed", type=int, default=1, help="the same seed plans the same storms and crashes")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="only rounds with this in `operation (use): fault`; may be given again",
    )
    return parser.parse_args()


if __name__ == "__main__":
    run("chaos", main)
