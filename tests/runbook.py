"""The commands of docs/operations.md, as a person on call would type them."""

import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

PATH = Path(__file__).parents[1] / "docs" / "operations.md"

EVENT = "CHG-4821"  # the page's examples
REGISTRATION = "REG-4821:2026-03-01"
MESSAGE = "<message id>"
KEYS = "keys.txt"
STAGE = "prod"

_ONCE = "./once "


@cache
def lines() -> tuple[str, ...]:
    """What follows `./once` on each line of the page's code blocks, without its comment."""
    return tuple(dict.fromkeys(_lines(PATH.read_text())))


def line(start: str) -> str:
    """The page's one command that begins so."""
    found = [each for each in lines() if each.startswith(start)]
    assert len(found) == 1, f"{PATH.name} has {len(found)} commands that begin with {start!r}"
    return found[0]


def words(of: str, put: Mapping[str, str]) -> list[str]:
    """A line's words, with what is `put` instead of the page's examples and blanks."""
    for blank, filling in put.items():
        of = of.replace(blank, shlex.quote(filling))
    return shlex.split(of)


def why(of: str) -> str:
    """The reason that a line gives for the audit trail."""
    given = shlex.split(of)
    return given[given.index("--reason") + 1]


def _lines(page: str) -> Iterator[str]:
    fenced = False
    for each in page.splitlines():
        if each.startswith("```"):
            fenced = not fenced
        command = each.removeprefix("    ")
        if command.startswith(_ONCE) and (fenced or command != each):
            yield command.removeprefix(_ONCE).partition(" #")[0].strip()
