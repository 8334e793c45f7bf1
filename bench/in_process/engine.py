"""`python -m bench.in_process.engine PORT`: moto's DynamoDB and Step Functions, and a downstream, counted.

Everything that arrives is counted here, on the wire, in a process of its own: what the engine takes does not
touch those who are measured.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

from botocore.awsrequest import AWSPreparedRequest
from moto.core.botocore_stubber import BotocoreStubber

from bench.in_process.wire import Exchange

_SERVICES = {"DynamoDB_20120810": "dynamodb", "AWSStepFunctions": "states"}
_NOTHING: Mapping[str, str] = {}


class Engine(ThreadingHTTPServer):
    """GET answers what was exchanged since the last GET."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Connection)
        self._moto = BotocoreStubber()
        self._exchanged: list[Exchange] = []
        self._one_at_a_time = Lock()  # moto checks a condition and then writes; DynamoDB is atomic

    def answer(
        self, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        service = _SERVICES[target.partition(".")[0]]
        url = f"https://{service}.us-east-1.amazonaws.com/"
        sent: Any = dict(headers)  # read as any mapping
        request = AWSPreparedRequest("POST", url, sent, body, False)
        with self._one_at_a_time:
            answered = self._moto.process_request(request)
        if answered is None:
            raise LookupError(f"moto has no {target}")
        status, answer_headers, text = answered
        return status, answer_headers, text.encode() if isinstance(text, str) else text

    def count(self, exchange: Exchange) -> None:
        with self._one_at_a_time:
            self._exchanged.append(exchange)

    def take(self) -> list[Exchange]:
        with self._one_at_a_time:
            taken, self._exchanged = self._exchanged, []
        return taken


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Engine
    raw_requestline: bytes

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = dict(self.headers)
        up = len(self.raw_requestline) + _size(asked) + len(body)
        target = self.headers.get("X-Amz-Target")
        status, headers, answer = HTTPStatus.OK.value, _NOTHING, b'{"accepted": true}'
        if target is not None:
            status, headers, answer = self.server.answer(target, asked, body)
        operation = self.path if target is None else target.partition(".")[2]
        head = f"HTTP/1.1 {status} {self.responses[status][0]}\r\n"
        headers = {**headers, "Content-Length": str(len(answer))}
        down = len(head) + _size(headers) + len(answer)
        self.server.count(Exchange(operation=operation, up=up, down=down))
        self._send(head, headers, answer)

    def do_GET(self) -> None:
        answer = json.dumps([asdict(exchange) for exchange in self.server.take()]).encode()
        self._send("HTTP/1.1 200 OK\r\n", {"Content-Length": str(len(answer))}, answer)

    def log_message(self, *_: object) -> None:
        """Nothing: an error is an answer."""

    def _send(self, head: str, headers: Mapping[str, str], body: bytes) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.wfile.write(f"{head}{lines}\r\n".encode() + body)


def _size(headers: Mapping[str, str]) -> int:
    """As HTTP/1.1 writes them, the empty line after them too."""
    return sum(len(f"{name}: {value}\r\n") for name, value in headers.items()) + 2


if __name__ == "__main__":
    Engine(int(sys.argv[1])).serve_forever()
