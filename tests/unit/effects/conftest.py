"""The HTTP effect needs a downstream: sockets are on here, to this machine only."""

import pytest
import pytest_socket


@pytest.fixture(autouse=True)
def sockets() -> None:
    pytest_socket.socket_allow_hosts(["127.0.0.1"])
