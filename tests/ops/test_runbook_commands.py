"""Each command of docs/operations.md is one that the command line has, with the options that it takes."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from ops import commands
from tests import runbook
from tests.ops.conftest import Once
from tests.ops.deployed import Deployed

_PUT = {runbook.MESSAGE: "8f1c", "<Idempotency-Key>": "order-0001", runbook.STAGE: "dev"}


@pytest.mark.parametrize("line", runbook.lines())
def test_a_command_of_the_page_is_understood(deployed: Deployed, once: Once, line: str) -> None:
    """Typed into a stage without events; nothing is agreed to where it asks."""
    words = runbook.words(line, _PUT)
    assert "<" not in " ".join(words)  # a blank that nobody has filled
    result = once(*words)
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.exit_code != 2, result.stderr


def test_each_command_is_on_the_page() -> None:
    for name in _names(typer.main.get_command(commands.app)):
        assert any(line.split()[: len(name)] == name for line in runbook.lines()), f"once {' '.join(name)}"


def _names(group: Any) -> Iterator[list[str]]:
    for name, command in group.commands.items():
        below = _names(command) if hasattr(command, "commands") else iter([[]])
        yield from ([name, *rest] for rest in below)
