"""No sockets; logs and metrics as the lines that CloudWatch would get."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import pytest_socket
from hypothesis import settings

from telemetry import log

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def sockets() -> None:
    """The plugin lifts this after each test."""
    pytest_socket.disable_socket(allow_unix_socket=True)


@pytest.fixture
def log_lines() -> Iterator[Lines]:
    """The lines logged so far."""
    written = io.StringIO()
    handler: Any = log.registered_handler
    before = handler.setStream(written)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    handler.setStream(before)
    log.clear_state()


@pytest.fixture
def metric_lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    """The metrics emitted since the last look, in CloudWatch's embedded metric format."""
    return lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
