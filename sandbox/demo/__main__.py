"""`python -m sandbox.demo`: runs each workload's demo; exit status 0 only if every verdict is ok."""

import argparse
from collections.abc import Callable
from typing import Any

from rich.console import Console

from sandbox.command import run
from sandbox.demo import charges, ingestion, orders, registrations, report
from sandbox.demo.progress import Progress

_WORKLOADS: dict[str, Callable[..., dict[str, Any]]] = {
    "ingestion": ingestion.run,
    "charges": charges.run,
    "registrations": registrations.run,
    "orders": orders.run,
}


def main() -> int:
    chosen = _arguments()
    console = Console(soft_wrap=True)
    found: list[dict[str, Any]] = []
    for workload in _WORKLOADS if chosen.workload == "all" else [chosen.workload]:
        latest = _WORKLOADS[workload](
            events=chosen.events,
            duplicates_percent=chosen.duplicates,
            seed=chosen.seed,
            progress=Progress(console),
        )
        found.append(latest)
        report.show(latest, console)
        console.print(report.verdict(latest), style="green" if latest["verdict"] == "ok" else "bold red")
        for path in (report.write(latest), report.draw(found)):
            console.print(f"[dim]{path.relative_to(report.FOLDER.parent.parent)}[/]", highlight=False)
    others = [name for name in _WORKLOADS if chosen.workload not in (name, "all")]
    if others:
        console.print(f"[dim]the other workloads: make demo WORKLOAD={'|'.join(others)}, or all[/]")
    return int(any(each["verdict"] != "ok" for each in found))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sandbox.demo", description=__doc__)
    parser.add_argument(
        "--workload", choices=[*_WORKLOADS, "all"], default="ingestion", help="default: %(default)s"
    )
    parser.add_argument("--events", type=_between(2, 5000), default=200, help="default: %(default)s")
    parser.add_argument(
        "--duplicates", type=_between(0, 100), default=30, metavar="PER_CENT", help="default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=1, help="the same seed plans the same storm")
    return parser.parse_args()


def _between(least: int, most: int) -> type[int]:
    def number(text: str) -> int:
        if not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}: must be between {least} and {most}")
        return int(text)

    return number  # type: ignore[return-value]


if __name__ == "__main__":
    run("demo", main)
