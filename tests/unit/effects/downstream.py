"""A downstream on loopback, down at the bytes: it keeps every request and answers by a script."""

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

Script = Callable[["Exchange"], None]


@dataclass(slots=True)
class Exchange:
    """One connection, its request read."""

    line: socket.socket
    over: Event  # the test has its answer

    def send(self, data: bytes) -> None:
        with suppress(OSError):  # the effect may have hung up
            self.line.sendall(data)

    def reset(self) -> None:
        self.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.line.close()


@dataclass(slots=True)
class Downstream:
    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/effects?tenant=t-1"

    @property
    def headers(self) -> dict[str, str]:
        """Of the only request, by their names in lower case."""
        (request,) = self.requests
        lines = request.partition(b"\r\n\r\n")[0].decode("ascii").split("\r\n")[1:]
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


@contextmanager
def downstream(script: Script, *, reads: bool = True) -> Iterator[Downstream]:
    """`reads` False: the script gets the connection before a byte of it was read."""
    over = Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        counted = Downstream(port=listening.getsockname()[1])

        def serve() -> None:
            while True:
                try:
                    line, _ = listening.accept()
                except OSError:
                    return
                with line:
                    if over.is_set():
                        return
                    counted.connections += 1
                    line.settimeout(10)
                    if reads:
                        counted.requests.append(_request(line))
                    script(Exchange(line, over))

        server = Thread(target=serve)
        server.start()
        try:
            yield counted
        finally:
            over.set()
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", counted.port), timeout=5).close()
            server.join(timeout=10)
            assert not server.is_alive()


def answering(head: str, body: bytes = b"") -> Script:
    """`head`: status line and headers, joined by newlines; Content-Length is added."""

    def script(exchange: Exchange) -> None:
        lines = [*head.split("\n"), f"Content-Length: {len(body)}", "", ""]
        exchange.send("\r\n".join(lines).encode() + body)

    return script


def _request(line: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += line.recv(65_536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        int(header.split(b":")[1])
        for header in head.split(b"\r\n")
        if header.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += line.recv(65_536)
    return head + b"\r\n\r\n" + body
