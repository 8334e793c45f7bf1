"""What the functions count, as their source has it: metrics' names with the dimensions beside them."""

import ast
from collections.abc import Iterator
from functools import cache

from tests.infrastructure.synthesis import ROOT

Counted = tuple[str, frozenset[str]]


@cache
def counted_by_the_functions() -> frozenset[Counted]:
    """`service`, which each of them has, is among the dimensions."""
    files = (ROOT / "lambdas").rglob("*.py")
    return frozenset(
        found for file in files for found in _counts(ast.parse(file.read_text(encoding="utf-8")))
    )


def _counts(tree: ast.Module) -> Iterator[Counted]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="count"), args=[named, *_], keywords=keywords):
                dimensions = frozenset({"service", *(each.arg for each in keywords if each.arg)})
                for part in ast.walk(named):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value, dimensions
