"""An effect as one HTTP POST: a single try, no redirects, a total deadline, a fresh connection."""

import http.client
import io
import socket
import ssl
import time
from contextlib import closing
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlsplit

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected

MAX_BODY_BYTES = 2048  # of the answer that is kept as the effect's result

_CERTAINLY_NOT_APPLIED = frozenset({401, 403, 408, 425, 429})


class HttpEffect:
    """POSTs a body with `Idempotency-Key` and `Idempotency-Attempt`.

    Raises NotApplied where nothing can have happened, Rejected where the downstream refused for good, and
    OutcomeUnknown for everything else, a deadline that ran out included.
    """

    def __init__(self, url: str, *, deadline_seconds: float) -> None:
        self._url = urlsplit(url)
        self._deadline_seconds = deadline_seconds

    def post(self, body: str, *, idempotency_key: str, attempt: int) -> dict[str, Any]:
        deadline = time.monotonic() + self._deadline_seconds
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": quote(idempotency_key, safe="/:-._~"),  # any text, as the ASCII a header takes
            "Idempotency-Attempt": str(attempt),
            "Connection": "close",
        }
        payload = body.encode()
        connection = http.client.HTTPConnection(self._url.hostname or "", self._port)
        with closing(self._connect(deadline)) as line:
            connection.sock = _DeadlineSocket(line, deadline)
            try:
                connection.request("POST", self._target, payload, headers)
                answer = connection.getresponse()
            except (OSError, http.client.HTTPException) as error:
                raise OutcomeUnknown(f"no answer: {type(error).__name__}") from error
            return _judge(answer)

    def _connect(self, deadline: float) -> socket.socket:
        """Until this returns not a byte of the request has left."""
        try:
            plain = _open(self._url.hostname or "", self._port, deadline)
            if self._url.scheme != "https":
                return plain
            plain.settimeout(_left(deadline))
            return self._tls.wrap_socket(plain, server_hostname=self._url.hostname)
        except OSError as error:  # refused, DNS, TLS and time-outs all are
            raise NotApplied(f"not connected: {error!r}") from error

    @property
    def _port(self) -> int:
        return self._url.port or (443 if self._url.scheme == "https" else 80)

    @property
    def _target(self) -> str:
        path = self._url.path or "/"
        return f"{path}?{self._url.query}" if self._url.query else path

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()


def _judge(answer: http.client.HTTPResponse) -> dict[str, Any]:
    status = answer.status
    body = _body(answer)
    if 200 <= status < 300:
        return {"status": status, "body": body}
    summary = f"HTTP {status}"
    if status in _CERTAINLY_NOT_APPLIED or (status == 503 and answer.headers.get("Retry-After")):
        raise NotApplied(summary)
    if 400 <= status < 500 and status != 409:
        raise Rejected(summary)
    raise OutcomeUnknown(summary)


def _body(answer: http.client.HTTPResponse) -> str | None:
    """The start of the answer's body; None if it breaks off: the status alone says what happened."""
    try:
        return answer.read(MAX_BODY_BYTES).decode(errors="replace")
    except (OSError, ValueError, http.client.HTTPException):  # ValueError: a chunk of negative size
        return None


def _open(host: str, port: int, deadline: float) -> socket.socket:
    """`socket.create_connection`, but with one deadline over all addresses of the host."""
    failure: OSError = OSError("the host has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        candidate = socket.socket(family, kind, protocol)
        try:
            candidate.settimeout(_left(deadline))
            candidate.connect(address)
        except OSError as error:
            candidate.close()
            failure = error
        else:
            return candidate
    raise failure


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the effect's deadline is over")
    return left


class _DeadlineSocket:
    """The part of a socket that http.client uses, with every wait cut at one deadline.

    A socket's own timeout starts anew with each read: a downstream that drips bytes would never meet it.
    """

    def __init__(self, inner: socket.socket, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        self._inner.settimeout(_left(self._deadline))
        self._inner.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reading(self._inner, self._deadline))

    def close(self) -> None:
        """http.client hangs up as soon as it has the headers; the answer's body is still to be read."""


class _Reading(io.RawIOBase):
    def __init__(self, inner: socket.socket, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._inner.settimeout(_left(self._deadline))
        return self._inner.recv_into(buffer)
