"""Puts a fault into the shipped code, by its text: so a mutant fails when the code has moved on."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

Mutant = Callable[[pytest.MonkeyPatch], None]


def rewritten(patch: pytest.MonkeyPatch, owner: Any, name: str, old: str, new: str) -> None:
    """The function or method with this in its text instead of that."""
    function: Any = inspect.unwrap(getattr(owner, name))
    text = textwrap.dedent(inspect.getsource(function))
    assert old in text, f"{name} has changed: {old!r} is not in it"
    found: dict[str, Any] = {}
    exec(text.replace(old, new), function.__globals__, found)  # noqa: S102 - our own text
    patch.setattr(owner, name, found[name])
