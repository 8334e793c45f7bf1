"""What docs/adopt.md shows stands in the files it names, or runs."""

import json
from typing import Any

import pytest

from stacks.settings import read_stage
from tests.infrastructure.synthesis import context
from tests.samples.page import PAGE, ROOT, Block, blocks

# Blocks that tests of their own make something of.
APPLICATIONS = {"app.py, with the imports of RefundsStack and read_refunds", "your app.py"}
SETTINGS = {"Your own key": "ingestion", "A fifth workload": "refunds"}

QUOTED = [block for block in blocks() if block.of and block.of not in APPLICATIONS]
RUN = [block for block in blocks() if block.language == "python" and not block.of]


@pytest.mark.parametrize("block", QUOTED, ids=lambda block: f"line {block.line}")
def test_what_is_quoted_stands_in_the_file_that_it_is_quoted_from(block: Block) -> None:
    assert block.body.strip("\n") in (ROOT / block.of).read_text(encoding="utf-8")


@pytest.mark.parametrize("block", RUN, ids=lambda block: f"line {block.line}")
def test_what_is_not_quoted_runs_and_its_assertions_hold(block: Block) -> None:
    at_its_line = "\n" * (block.line - 1) + block.text
    exec(compile(at_its_line, PAGE, "exec"), {})  # noqa: S102 - our own page


def test_every_block_is_quoted_run_or_made_something_of() -> None:
    assert QUOTED
    assert RUN
    left = [block for block in blocks() if block not in (*QUOTED, *RUN)]
    assert {block.language for block in left} == {"sh", "json", "python"}
    assert {block.of for block in left if block.language == "python"} == APPLICATIONS
    assert {block.section for block in left if block.language == "json"} == set(SETTINGS)


def test_settings_of_a_key_of_your_own_are_accepted() -> None:
    [shown] = [block for block in blocks() if block.section == "Your own key" and block.language == "json"]
    given: dict[str, Any] = json.loads(shown.text)
    made = read_stage("dev", context()["stages"], overrides=given).ingestion
    assert {"ingestion": {name: getattr(made, name) for name in given["ingestion"]}} == given
