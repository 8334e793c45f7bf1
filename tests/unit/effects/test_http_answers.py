"""What each answer of the downstream says of the effect."""

import pytest

from effects.http import MAX_BODY_BYTES, HttpEffect
from idempotency.errors import EffectError, NotApplied, OutcomeUnknown, Rejected
from tests.unit.effects.downstream import Downstream, Exchange, answering, downstream


def _post(to: Downstream, body: str = "{}") -> dict[str, object]:
    return HttpEffect(to.url, deadline_seconds=5).post(body, idempotency_key="ingestion/charge:1", attempt=3)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 207, 299])
def test_it_happened(status: int) -> None:
    with downstream(answering(f"HTTP/1.1 {status} -")) as server:
        assert _post(server) == {"status": status, "body": ""}
    assert len(server.requests) == 1


TAXONOMY: dict[type[EffectError], list[str]] = {
    NotApplied: ["401", "403", "408", "425", "429", "503\nRetry-After: 1"],
    Rejected: [
        "400",
        "402",
        "404",
        "405",
        "406",
        "410",
        "411",
        "412",
        "413",
        "415",
        "418",
        "422",
        "451",
        "499",
    ],
    OutcomeUnknown: [
        "300",
        "301\nLocation: /elsewhere",
        "302\nLocation: /elsewhere",
        "303\nLocation: /elsewhere",
        "304",
        "307\nLocation: /elsewhere",
        "308\nLocation: /elsewhere",
        "409",
        "500",
        "501",
        "502",
        "503",
        "503\nRetry-After: ",
        "504",
        "599",
        "500\nRetry-After: 1",
    ],
}


@pytest.mark.parametrize(
    ("raised", "head"), [(error, head) for error in TAXONOMY for head in TAXONOMY[error]]
)
def test_it_did_not_or_nobody_knows(raised: type[EffectError], head: str) -> None:
    """One request each: nothing is retried here, no redirect followed."""
    status, _, headers = head.partition("\n")
    with (
        downstream(answering(f"HTTP/1.1 {status} -\n{headers}".rstrip("\n"))) as server,
        pytest.raises(raised, match=f"HTTP {status}"),
    ):
        _post(server)
    assert server.connections == 1


def test_the_start_of_the_answer_is_the_result() -> None:
    with downstream(answering("HTTP/1.1 200 OK", b'{"receipt":7}')) as server:
        assert _post(server)["body"] == '{"receipt":7}'
    with downstream(answering("HTTP/1.1 200 OK", b"x" * 100_000)) as server:
        assert _post(server)["body"] == "x" * MAX_BODY_BYTES


def test_an_answer_that_is_no_text_is_still_an_answer() -> None:
    with downstream(answering("HTTP/1.1 200 OK", b"\xff\xfe")) as server:
        assert _post(server)["status"] == 200


def test_a_chunked_answer_is_read_too() -> None:
    def chunked(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")

    with downstream(chunked) as server:
        assert _post(server) == {"status": 200, "body": "ok"}


@pytest.mark.parametrize(
    "cut",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno-size\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
    ],
)
def test_an_answer_whose_body_breaks_off_says_that_it_happened(cut: bytes) -> None:
    with downstream(lambda exchange: exchange.send(cut)) as server:
        assert _post(server)["status"] == 200


def test_a_refusal_whose_body_breaks_off_is_a_refusal() -> None:
    cut = b"HTTP/1.1 422 -\r\nContent-Length: 100\r\n\r\nhalf"
    with downstream(lambda exchange: exchange.send(cut)) as server, pytest.raises(Rejected):
        _post(server)


@pytest.mark.parametrize("nonsense", [b"", b"HTTP/1.1", b"SSH-2.0\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\r\n"])
def test_an_answer_that_is_no_http_leaves_the_outcome_unknown(nonsense: bytes) -> None:
    with downstream(lambda exchange: exchange.send(nonsense)) as server, pytest.raises(OutcomeUnknown):
        _post(server)


def test_an_error_does_not_quote_an_answer_that_echoes_the_payload() -> None:
    """It ends up in the history of the execution and in logs."""
    with (
        downstream(lambda exchange: exchange.send(b"echo of a secret\r\n\r\n")) as server,
        pytest.raises(OutcomeUnknown) as unknown,
    ):
        _post(server)
    assert "secret" not in str(unknown.value)


def test_the_request_carries_the_verbatim_body_the_key_and_the_attempt() -> None:
    with downstream(answering("HTTP/1.1 200 OK")) as server:
        _post(server, '{ "name": "Ærø" }\n')
    (request,) = server.requests
    assert request.startswith(b"POST /effects?tenant=t-1 HTTP/1.1\r\n")
    assert request.endswith('\r\n\r\n{ "name": "Ærø" }\n'.encode())
    assert server.headers["idempotency-key"] == "ingestion/charge:1"
    assert server.headers["idempotency-attempt"] == "3"
    assert server.headers["content-type"] == "application/json"
    assert server.headers["host"] == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    ("key", "header"),
    [
        ("ingestion/charge:é", "ingestion/charge:%C3%A9"),
        ("ingestion/charge:a b", "ingestion/charge:a%20b"),
        ("ingestion/charge:a\r\nX: y", "ingestion/charge:a%0D%0AX:%20y"),
        ("ingestion/charge:100%", "ingestion/charge:100%25"),
        ("ingestion/charge:\U0001f6f6", "ingestion/charge:%F0%9F%9B%B6"),
    ],
)
def test_any_key_travels_as_ascii(key: str, header: str) -> None:
    with downstream(answering("HTTP/1.1 200 OK")) as server:
        HttpEffect(server.url, deadline_seconds=5).post("{}", idempotency_key=key, attempt=1)
    assert server.headers["idempotency-key"] == header


def test_each_effect_has_a_connection_of_its_own() -> None:
    with downstream(answering("HTTP/1.1 200 OK\nConnection: keep-alive")) as server:
        effect = HttpEffect(server.url, deadline_seconds=5)
        for attempt in (1, 2, 3):
            effect.post("{}", idempotency_key="k", attempt=attempt)
    assert (server.connections, len(server.requests)) == (3, 3)
