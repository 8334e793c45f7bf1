"""What chaos leaves behind: a line per operation and fault, a verdict, a file for machines, a page."""

import json
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sandbox.chaos.campaign import AT_RANDOM
from sandbox.deployment import PROJECT
from sandbox.report.page import page

FOLDER = PROJECT / "build" / "chaos"
LOGS = FOLDER / "logs"

_COUNTS = ("fired", "events", "effects", "done", "dead_lettered", "in_doubt", "failed", "lost", "doubled")
_COLOURS = {"ok": "green", "failed": "bold red", "never fired": "bold red"}


def write(workloads: list[dict[str, Any]], *, seed: int) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "report.json"
    report = {
        "verdict": "ok" if all(each["verdict"] == "ok" for each in workloads) else "failed",
        "seed": seed,
        "seconds": round(sum(each["seconds"] for each in workloads), 1),
        "versions": {
            "python": platform.python_version(),
            "ministack": _pinned("ministack"),
            **{name: version(name) for name in ("microburst", "boto3", "aws-cdk-lib")},
        },
        "workloads": workloads,
    }
    path.write_text(json.dumps(report, indent=2) + "\n")
    return path


def draw(workloads: Sequence[dict[str, Any]]) -> Path:
    path = FOLDER / "report.html"
    path.write_text(page("What chaos did to the events", workloads), encoding="utf-8")
    return path


def _pinned(package: str) -> str:
    """Of the emulator's virtual environment."""
    lines = (PROJECT / "sandbox" / "constraints.txt").read_text().splitlines()
    return next(line.partition("==")[2] for line in lines if line.startswith(f"{package}=="))


def show(report: dict[str, Any], console: Console) -> None:
    table = Table(title=f"{report['workload']}: what became of the events", title_justify="left")
    for name in ("operation", "what happened to it"):
        table.add_column(name, no_wrap=True)
    for name in _COUNTS:
        table.add_column(name.replace("_", " "), justify="right", min_width=4)
    table.add_column("verdict")
    before = None
    for row in report["rounds"]:
        if before not in (None, row["operation"]):
            table.add_section()
        named = "" if row["operation"] == before else row["operation"]
        before = row["operation"]
        told = f"[{_COLOURS[row['verdict']]}]{row['verdict']}[/]"
        table.add_row(named, row["fault"], *(str(row[name] or "·") for name in _COUNTS), told)
    console.print(table)
    for violation in report["violations"]:
        console.print(f"[red]✗[/] {violation}", highlight=False)


def verdict(report: dict[str, Any]) -> str:
    rounds = report["rounds"]
    uses = {row["operation"] for row in rounds} - {AT_RANDOM[0]}
    return (
        f"{report['workload']}: {report['verdict']} - {len(rounds)} rounds over"
        f" {len(uses)} uses of {len(report['calls'])} operations,"
        f" {sum(row['fired'] for row in rounds)} faults, {report['killed']} workers killed;"
        f" {report['events']} events: {report['lost']} lost, {report['doubled']} doubled"
        f" ({report['seconds']:.0f} s)"
    )
