"""Puts what was computed or measured into a document, between the marks that stand there for it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def put(path: Path, sections: Mapping[str, str]) -> None:
    """Each section's text between `<!-- name -->` and `<!-- /name -->`; other sections stay as they are.

    Raises LookupError where the document has no place for one.
    """
    text = path.read_text(encoding="utf-8")
    for name, section in sections.items():
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->")
        if not end:
            raise LookupError(f"{path.name} has no place for {name}")
        text = f"{before}{begin}\n{section}\n\n{end}{after}"
    path.write_text(text, encoding="utf-8")


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """In Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
