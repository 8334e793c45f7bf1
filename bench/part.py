"""A table under its name: for a terminal, and for a document."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from bench import documented


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """`name` is that of its place in the document."""

    name: str
    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    note: str = ""


def show(parts: Iterable[Part], console: Console) -> None:
    for part in parts:
        draw(part.title, part.head, part.lines, console)
        if part.note:
            console.print(f"[dim]{part.note}[/]", highlight=False)


def draw(title: str, head: tuple[str, ...], lines: Iterable[tuple[str, ...]], console: Console) -> None:
    """Words to the left, figures to the right."""
    table = Table(title=title, title_justify="left")
    for position, column in enumerate(head):
        table.add_column(column, justify="right" if position else "left", overflow="fold")
    for line in lines:
        table.add_row(*line)
    console.print(table)


def sections(parts: Iterable[Part]) -> dict[str, str]:
    """By name, in Markdown."""
    return {
        part.name: "\n\n".join(filter(None, (documented.table(part.head, part.lines), part.note)))
        for part in parts
    }
