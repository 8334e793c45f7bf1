"""What chaos says at its end: a line per operation and fault, one for all of it, and a file."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from sandbox.chaos import report
from sandbox.chaos.campaign import AT_RANDOM
from sandbox.chaos.verdict import Row


def row(operation: str, fault: str, **counts: int) -> dict[str, Any]:
    names = ("effects", "done", "dead_lettered", "in_doubt", "failed", "lost", "doubled")
    events = dict.fromkeys(names, 0) | {"events": 4} | counts
    fired = {"at-most-once": events.pop("fired", 8)}
    return Row(operation=operation, fault=fault, fired=fired, violations=(), **events).report()


ROUNDS = [
    row("PutItem (claim)", "response lost", effects=4, done=4),
    row("PutItem (claim)", "slow", effects=4, done=3, lost=1),
    row("GetItem (status)", "slow", fired=0, done=4),
    row(*AT_RANDOM, done=4),
]
FOUND: dict[str, Any] = {
    "workload": "orders",
    "seconds": 61.4,
    "verdict": "failed",
    "killed": 3,
    "events": 16,
    "lost": 1,
    "doubled": 0,
    "rounds": ROUNDS,
    "calls": {"dynamodb:PutItem": 9, "dynamodb:GetItem": 7},
    "violations": ["O-0001: lost"],
}


def test_each_operation_and_fault_has_a_line_with_its_verdict() -> None:
    written = io.StringIO()
    report.show(FOUND, Console(file=written, width=200))
    lines = [" ".join(line.strip(" │┃").split()) for line in written.getvalue().splitlines()]

    assert "PutItem (claim) │ response lost │ 8 │ 4 │ 4 │ 4 │ · │ · │ · │ · │ · │ ok" in lines
    assert "slow │ 8 │ 4 │ 4 │ 3 │ · │ · │ · │ 1 │ · │ failed" in lines
    assert "GetItem (status) │ slow │ · │ 4 │ · │ 4 │ · │ · │ · │ · │ · │ never fired" in lines
    assert "✗ O-0001: lost" in lines


def test_the_verdict_counts_uses_operations_and_faults() -> None:
    assert report.verdict(FOUND) == (
        "orders: failed - 4 rounds over 2 uses of 2 operations, 24 faults, 3 workers killed;"
        " 16 events: 1 lost, 0 doubled (61 s)"
    )


def test_the_file_is_ok_only_if_every_workload_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "FOLDER", tmp_path)
    good = {**FOUND, "verdict": "ok"}

    kept = [json.loads(report.write(found, seed=7).read_text()) for found in ([good], [good, FOUND])]

    assert [each["verdict"] for each in kept] == ["ok", "failed"]
    assert (kept[1]["seed"], kept[1]["seconds"]) == (7, 122.8)
    assert {"python", "ministack", "microburst"} <= kept[1]["versions"].keys()
    assert kept[1]["workloads"][1]["rounds"] == FOUND["rounds"]
