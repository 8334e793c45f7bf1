"""Puts a fault into the shipped code, by its text: so a mutant fails when the code has moved on."""

import inspect
import textwrap
from collections.abc import Callable
from copy import deepcopy
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


def redefined(patch: pytest.MonkeyPatch, owner: Any, change: Callable[[dict[str, Any]], None]) -> None:
    """The workflow's definition, which `owner.definition` makes of its settings, with this change in it."""
    shipped = owner.definition

    def changed(settings: Any) -> dict[str, Any]:
        definition: dict[str, Any] = deepcopy(shipped(settings))
        change(definition)
        return definition

    patch.setattr(owner, "definition", changed)
