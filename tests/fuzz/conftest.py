"""No sockets; what the functions log and count is written to nowhere."""

import io
import logging
import random
from collections.abc import Generator
from contextlib import redirect_stdout
from typing import Any

import pytest
import pytest_socket

from telemetry import log


@pytest.fixture(autouse=True)
def sockets() -> None:
    """The plugin lifts this after each test."""
    pytest_socket.disable_socket(allow_unix_socket=True)


@pytest.fixture(autouse=True)
def repeatable_jitter() -> None:
    random.seed(7)


class _Nowhere(io.StringIO):
    def write(self, text: str) -> int:
        text.encode()  # as CloudWatch would get it
        return len(text)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """What the functions tell has to be written, but ten thousands of lines need not be kept.

    Not in a fixture: pytest would ask a logger that stopped to propagate before the call for its records.
    """
    handler: Any = log.registered_handler
    nowhere, logger = _Nowhere(), logging.getLogger(log.name)
    before, logger.propagate = handler.setStream(nowhere), False
    try:
        with redirect_stdout(nowhere):
            return (yield)
    finally:
        logger.propagate = True
        handler.setStream(before)
        log.clear_state()
