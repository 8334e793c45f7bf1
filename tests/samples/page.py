"""docs/adopt.md in parts: its sections, and in each the blocks of a language with the line they begin at."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adopt.md"

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    section: str
    language: str
    text: str
    line: int

    @property
    def of(self) -> str:
        """What its first line says where it stands; empty if it stands nowhere else."""
        first = self.text.partition("\n")[0]
        return first.removeprefix("# ") if first.startswith("# ") else ""

    @property
    def body(self) -> str:
        return self.text.partition("\n")[2] if self.of else self.text


@cache
def blocks() -> list[Block]:
    text = PAGE.read_text(encoding="utf-8")
    headings = [(found.start(), found[1]) for found in _HEADING.finditer(text)]
    return [
        Block(
            section=[name for start, name in headings if start < found.start()][-1],
            language=found[1],
            text=found[2],
            line=text[: found.start(2)].count("\n") + 1,
        )
        for found in _BLOCK.finditer(text)
    ]


def commands(section: str) -> list[str]:
    """The shell's lines of a section."""
    return [
        line
        for block in blocks()
        if block.section == section and block.language == "sh"
        for line in block.text.splitlines()
    ]
