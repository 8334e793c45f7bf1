"""Before a byte of the request has left nothing can have happened; from then on nobody knows."""

import socket
from typing import Any

import pytest

from effects.http import HttpEffect
from idempotency.errors import NotApplied, OutcomeUnknown
from tests.unit.effects.downstream import Exchange, answering, downstream


def _post(url: str, deadline: float = 5) -> dict[str, Any]:
    return HttpEffect(url, deadline_seconds=deadline).post("{}", idempotency_key="k", attempt=1)


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_refused_connection_did_nothing(scheme: str, closed_port: int) -> None:
    with pytest.raises(NotApplied, match="not connected"):
        _post(f"{scheme}://127.0.0.1:{closed_port}/")


def test_a_name_that_does_not_resolve_did_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def unresolved(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", unresolved)
    with pytest.raises(NotApplied, match="name resolution"):
        _post("http://downstream.invalid/")


def test_a_host_without_an_address_did_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [])
    with pytest.raises(NotApplied, match="no address"):
        _post("http://downstream.invalid/")


def test_the_next_address_of_a_host_is_tried_when_one_refuses(
    closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with downstream(answering("HTTP/1.1 200 OK")) as server:
        addresses = [
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))
            for port in (closed_port, server.port)
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        assert _post("http://downstream.invalid/")["status"] == 200
    assert server.connections == 1


def test_a_deadline_that_is_over_before_the_connection_did_nothing() -> None:
    with downstream(answering("HTTP/1.1 200 OK")) as server, pytest.raises(NotApplied):
        _post(server.url, deadline=0)
    assert server.connections == 0


def test_a_handshake_with_a_server_that_speaks_no_tls_did_nothing() -> None:
    def plain(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        exchange.over.wait(10)

    with downstream(plain, reads=False) as server, pytest.raises(NotApplied):
        _post(server.url.replace("http:", "https:"))
    assert server.connections == 1


def test_a_connection_that_is_closed_without_an_answer_leaves_the_outcome_unknown() -> None:
    with downstream(lambda _: None) as server, pytest.raises(OutcomeUnknown):
        _post(server.url)
    assert (server.connections, len(server.requests)) == (1, 1)


def test_so_does_one_that_is_reset() -> None:
    with downstream(Exchange.reset) as server, pytest.raises(OutcomeUnknown):
        _post(server.url)
    assert server.connections == 1


def test_so_does_one_that_is_reset_before_the_request_was_read() -> None:
    """Nobody can tell from here how much of it was read."""

    def begin(exchange: Exchange) -> None:
        exchange.line.recv(1)
        exchange.reset()

    with downstream(begin, reads=False) as server, pytest.raises(OutcomeUnknown):
        HttpEffect(server.url, deadline_seconds=5).post("x" * 5_000_000, idempotency_key="k", attempt=1)
    assert server.connections == 1


def test_so_does_one_that_breaks_off_within_the_status() -> None:
    def half(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 20")

    with downstream(half) as server, pytest.raises(OutcomeUnknown):
        _post(server.url)
