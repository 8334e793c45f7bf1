"""A deployed stage, the command line on it, and no way out to any AWS."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import pytest_socket
from moto import mock_aws
from typer.testing import CliRunner, Result

from ops import commands, dead_letters
from tests.ops.deployed import Deployed

Once = Callable[..., Result]


@pytest.fixture(autouse=True)
def sockets() -> None:
    pytest_socket.disable_socket(allow_unix_socket=True)


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with mock_aws():
        stage = Deployed()
        monkeypatch.setattr(commands, "Aws", lambda **_: stage)
        monkeypatch.setattr(dead_letters, "WAIT_SECONDS", 0)
        yield stage


@pytest.fixture
def once() -> Once:
    """Runs the command line; what it says on each channel is apart."""

    def run(*words: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(commands.app, list(words), input=answer)

    return run


@pytest.fixture
def told(once: Once) -> Callable[..., Any]:
    """What a command that succeeds answers as JSON."""

    def run(*words: str) -> Any:
        result = once(*words, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run
