"""What a demo leaves behind: tables, a line of verdict, a file for machines, a page with pictures."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sandbox.report.page import page

FOLDER = Path(__file__).resolve().parent.parent.parent / "build" / "demo"
LOGS = FOLDER / "logs"

_ROWS = {
    "events": "events",
    "deliveries": "deliveries",
    "effects": "effects",
    "max_effects_per_event": "most times that one effect took place",
    "done": "done",
    "failed": "failed, which the callers were told",
    "skipped": "deliveries skipped as duplicates",
    "dead_lettered": "dead-lettered",
    "in_doubt": "in doubt",
    "lost": "lost",
    "doubled": "doubled",
    "debits": "debits in the bank's ledger",
    "notifications": "notifications accepted",
    "notification_failed": "done, but not notified",
    "reclaimed": "claims taken over",
    "charged": "payments charged",
    "provisioned": "items provisioned",
    "hung_up": "deliveries whose clients hung up before the answer",
    "conflicts": "deliveries refused for another body",
    "refused": "other requests refused",
    "polls": "times a status was asked for",
    "runs": "runs",
    "scheduled_runs": "of these, by the schedule",
    "left_alone": "left alone: not due yet, or too old",
    "swept": "keys past their retention, taken",
    "deleted": "parameters deleted",
    "parameters": "parameters left",
}


def write(report: dict[str, Any]) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{report['workload']}.json"
    path.write_text(json.dumps(report, indent=2) + "\n")
    return path


def draw(reports: Sequence[dict[str, Any]]) -> Path:
    """One page for the workloads that were run together."""
    path = FOLDER / "report.html"
    path.write_text(page("What became of the events", reports), encoding="utf-8")
    return path


def show(report: dict[str, Any], console: Console) -> None:
    columns = {**report["by_semantics"], "together": report} if "by_semantics" in report else {"": report}
    table = Table(title=f"{report['workload']}: what became of the events", title_justify="left")
    table.add_column("")
    for name in columns:
        table.add_column(name, justify="right")
    for field, label in _ROWS.items():
        if field not in report:  # not every workload counts everything
            continue
        table.add_row(label, *(str(column[field]) for column in columns.values()))
    for reason in sorted(report["dead_letter_reasons"]):
        counts = (str(column["dead_letter_reasons"].get(reason, 0)) for column in columns.values())
        table.add_row(f"[dim]copies dead-lettered: {reason}[/]", *counts)
    console.print(table)
    for violation in report["violations"]:
        console.print(f"[red]✗[/] {violation}", highlight=False)


def verdict(report: dict[str, Any]) -> str:
    failed = f" {report['failed']} failed and said so," if "failed" in report else ""
    return (
        f"{report['workload']}: {report['verdict']} -"
        f" {report['events']} events in {report['deliveries']} deliveries:"
        f" {report['done']} done once,{failed} {report['dead_lettered']} dead-lettered with a reason,"
        f" {report['in_doubt']} in doubt, {report['lost']} lost, {report['doubled']} doubled"
        f" ({report['seconds']:.0f} s)"
    )
