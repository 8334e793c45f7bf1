"""What a run of the measurements leaves behind: tables, a file for machines, rows of docs/performance.md."""

import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import documented, part
from bench.row import Row

REPORT = Path(__file__).resolve().parent.parent / "build" / "bench" / "report.json"
PERFORMANCE = documented.DOCS / "performance.md"


def write(rows: Mapping[str, Row], *, seconds: float) -> None:
    """Rows of earlier runs that this one did not measure stay."""
    report: dict[str, Any] = json.loads(REPORT.read_text()) if REPORT.exists() else {"rows": {}}
    for name, row in rows.items():
        report["rows"][name] = {**asdict(row), "measured_at": time.strftime("%Y-%m-%d"), **_machine()}
    report["seconds"] = round(seconds)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2) + "\n")


def show(row: Row, console: Console) -> None:
    part.draw(row.title, row.head, row.lines, console)
    for goal in row.goals:
        mark, style = ("✓", "green") if goal.met else ("✗", "red")
        console.print(f"[{style}]{mark}[/] {goal.what}: {goal.measured} (goal {goal.limit})", highlight=False)
    if row.note:
        console.print(f"[dim]{row.note}[/]", highlight=False)


def document(rows: Mapping[str, Row]) -> None:
    """Each row's goals and table, into its place in docs/performance.md; all goals measured so far on top."""
    documented.put(PERFORMANCE, {"goals": _goals(), **{name: _section(row) for name, row in rows.items()}})


def _goals() -> str:
    report = json.loads(REPORT.read_text())["rows"]
    return documented.table(
        ("", "goal", "limit", "measured", "met"),
        [
            (name, goal["what"], goal["limit"], goal["measured"], _met(goal["met"]))
            for name, row in report.items()
            for goal in row["goals"]
        ],
    )


def _section(row: Row) -> str:
    goals = documented.table(
        ("goal", "limit", "measured", "met"),
        [(goal.what, goal.limit, goal.measured, _met(goal.met)) for goal in row.goals],
    )
    measured = documented.table(row.head, row.lines)
    return "\n\n".join(part for part in (goals, measured, row.note) if part)


def _met(met: bool) -> str:
    return "yes" if met else "**no**"


def _machine() -> dict[str, Any]:
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "python": platform.python_version(),
    }
