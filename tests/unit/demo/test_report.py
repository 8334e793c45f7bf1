"""What a demo says at its end, of a workload with both semantics and of one that keeps a single one."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from sandbox.demo import report
from sandbox.demo.tally import Run, Story, alone, together

DONE = Story(event="E-1", kind="accepted", effects=1, state="DONE", reasons=())
RUN = Run(stories=(DONE,), deliveries=2, skipped=1, seconds=1.0)
FAILING = Run(stories=(DONE,), deliveries=2, skipped=1, seconds=1.0, counts={"failed": 7})


def shown(found: dict[str, Any]) -> list[str]:
    written = io.StringIO()
    report.show(found, Console(file=written, width=200))
    return [" ".join(line.strip(" │┃").split()) for line in written.getvalue().splitlines()]


def test_a_workload_with_both_semantics_has_a_column_for_each_and_one_for_both() -> None:
    lines = shown(together({"a": RUN, "b": RUN}, seconds=3, workload="charges"))

    assert "a ┃ b ┃ together" in lines
    assert "deliveries │ 2 │ 2 │ 4" in lines


def test_a_workload_with_one_deployment_has_one_column() -> None:
    lines = shown(alone(FAILING, seconds=3, workload="orders"))

    assert "deliveries │ 2" in lines
    assert "failed, which the callers were told │ 7" in lines


def test_the_verdict_tells_of_failures_where_a_workload_has_them() -> None:
    told = report.verdict(alone(FAILING, seconds=3, workload="orders"))
    assert told.startswith("orders: ok - 1 events in 2 deliveries: 1 done once, 7 failed and said so, 0 dead")
    assert told.endswith("(3 s)")
    assert "failed and said so" not in report.verdict(alone(RUN, seconds=3, workload="charges"))


def test_the_page_shows_all_workloads_that_were_run_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "FOLDER", tmp_path)
    found = [together({"a": RUN}, seconds=3, workload=name, seed=1) for name in ("charges", "orders")]
    html = report.draw(found).read_text(encoding="utf-8")

    assert all(f'<section id="{name}"' in html for name in ("charges", "orders"))
