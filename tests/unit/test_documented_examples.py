"""The examples in the documents run as they stand there, one after the other, in one namespace."""

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("document", ["run_exactly_once.md"])
def test_its_examples_run_and_their_assertions_hold(document: str) -> None:
    path = DOCS / document
    text = path.read_text()
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) == text.count("```python") > 0
    namespace: dict[str, Any] = {}
    for block in blocks:
        above = "\n" * text[: block.start(1)].count("\n")  # a traceback then names the document's own line
        exec(compile(above + block[1], path, "exec"), namespace)  # noqa: S102 - our own document
