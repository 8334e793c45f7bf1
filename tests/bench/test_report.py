"""What was measured reaches the file and the page, beside what earlier runs measured."""

from pathlib import Path

import pytest

from bench import report
from bench.row import Goal, Row


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = "".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in ("goals", "one", "another"))
    (tmp_path / "performance.md").write_text(marks)
    monkeypatch.setattr(report, "REPORT", tmp_path / "bench" / "report.json")
    monkeypatch.setattr(report, "PERFORMANCE", tmp_path / "performance.md")


def row(title: str, *, met: bool) -> Row:
    goal = Goal(what=f"{title} is small", limit="≤ 1 x", measured="0.5 x" if met else "2 x", met=met)
    return Row(title=title, goals=(goal,), head=("", "ms"), lines=(("ours", "7"),), note="In turn.")


def test_a_goal_that_is_missed_says_so_on_top_and_in_its_place() -> None:
    report.write({"one": row("One", met=True)}, seconds=1)
    report.write({"another": row("Another", met=False)}, seconds=1)
    report.document({"another": row("Another", met=False)})
    page = report.PERFORMANCE.read_text()
    assert "| one | One is small | ≤ 1 x | 0.5 x | yes |" in page
    assert "| another | Another is small | ≤ 1 x | 2 x | **no** |" in page
    assert page.count("**no**") == 2
    assert "| ours | 7 |" in page
    assert "<!-- one -->\n<!-- /one -->" in page  # not measured in this run


def test_a_row_without_a_place_is_named() -> None:
    report.write({"unknown": row("Unknown", met=True)}, seconds=1)
    with pytest.raises(LookupError, match=r"performance\.md has no place for unknown"):
        report.document({"unknown": row("Unknown", met=True)})
