"""One deadline over everything: connecting, sending, and an answer that comes in drips."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from effects.http import HttpEffect
from idempotency.errors import NotApplied, OutcomeUnknown
from tests.unit.effects.downstream import Exchange, Script, downstream

DEADLINE = 0.3  # seconds
TOLERANCE = 1.5  # of a machine that is busy with other things


@contextmanager
def _kept() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert DEADLINE * 0.9 <= time.monotonic() - start <= DEADLINE + TOLERANCE


def _post(url: str, body: str = "{}") -> dict[str, object]:
    return HttpEffect(url, deadline_seconds=DEADLINE).post(body, idempotency_key="k", attempt=1)


def _silent(exchange: Exchange) -> None:
    exchange.over.wait(10)


def _dripping(head: bytes) -> Script:
    """After `head` a byte every 50 ms, for longer than any deadline here: each read alone is in time."""

    def drip(exchange: Exchange) -> None:
        exchange.send(head)
        for _ in range(100):
            if exchange.over.wait(0.05):
                return
            exchange.send(b"x")

    return drip


def test_a_downstream_that_never_answers() -> None:
    with downstream(_silent) as server, _kept(), pytest.raises(OutcomeUnknown):
        _post(server.url)
    assert len(server.requests) == 1


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX-Long: "])
def test_a_downstream_that_drips_its_headers(head: bytes) -> None:
    with downstream(_dripping(head)) as server, _kept(), pytest.raises(OutcomeUnknown):
        _post(server.url)


def test_a_downstream_that_drips_its_body_has_said_that_it_happened() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    with downstream(_dripping(head)) as server, _kept():
        assert _post(server.url) == {"status": 200, "body": None}


def test_a_downstream_that_repeats_100_continue_for_ever() -> None:
    def repeating(exchange: Exchange) -> None:
        while not exchange.over.wait(0.02):
            exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    with downstream(repeating) as server, _kept(), pytest.raises(OutcomeUnknown):
        _post(server.url)


def test_a_downstream_that_does_not_read_a_large_request() -> None:
    with downstream(_silent, reads=False) as server, _kept(), pytest.raises(OutcomeUnknown):
        _post(server.url, "x" * 50_000_000)


def test_a_tls_handshake_that_is_never_answered_did_nothing() -> None:
    with downstream(_silent, reads=False) as server, _kept(), pytest.raises(NotApplied):
        _post(server.url.replace("http:", "https:"))
