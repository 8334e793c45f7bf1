"""A downstream HTTP service that counts its calls, and answers late, wrongly or not at all as scripted."""

import contextlib
import socketserver
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call as it arrived. `at` is `time.monotonic()`; `attempt` is the text of `Idempotency-Attempt`."""

    at: float
    method: str
    path: str
    key: str
    attempt: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the downstream does with a call.

    The effect takes place at once, if at all; only then come the delay and the answer, or, with `drop`, the
    end of the connection without one. `Answer(delay_seconds=9)` is an effect whose caller has given up.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay_seconds: float = 0
    drop: bool = False
    applies: bool | None = None
    """Whether the effect takes place; None means: if the status is 2xx."""

    @property
    def takes_effect(self) -> bool:
        """Whether the effect takes place."""
        return 200 <= self.status < 300 if self.applies is None else self.applies


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A call, what was answered to it, and whether it caused the effect."""

    call: Call
    answer: Answer
    effect: bool


Script = Callable[[Call, int], Answer]
"""Decides on a call, which is the n-th (from 1) of its key. Called under a lock: it must not wait."""


def accept(_call: Call, _n: int) -> Answer:
    """The script of a downstream where nothing goes wrong."""
    return Answer()


class Downstream:
    """The service, within `with`, on a free port of 127.0.0.1.

    With `dedupe` it honours idempotency keys: a key whose effect took place gets the first result again, and
    no second effect. Without, each call that is let through is an effect of its own.
    """

    def __init__(self, script: Script = accept, *, dedupe: bool = False) -> None:
        self.script = script
        self._dedupe = dedupe
        self._lock = threading.Lock()
        self._arrived: Counter[str] = Counter()
        self._first_result: dict[str, Answer] = {}
        self._exchanges: list[Exchange] = []
        self._closing = threading.Event()

    def __enter__(self) -> Self:
        self._server = _Server(self._handle, self._closing)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="downstream", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where to call it."""
        return f"http://127.0.0.1:{self._server.server_port}/effects"

    @property
    def calls(self) -> list[Exchange]:
        """All calls so far in the order of arrival, with the answers decided on (perhaps still under way)."""
        with self._lock:
            return list(self._exchanges)

    def calls_of(self, key: str) -> list[Exchange]:
        """The calls that arrived with an idempotency key, in order."""
        return [each for each in self.calls if each.call.key == key]

    def effects(self, key: str) -> int:
        """How often the effect of a key really took place, whether or not its caller heard of it."""
        return self.effects_by_key()[key]

    def effects_by_key(self) -> Counter[str]:
        """How often the effect took place, for each key that has one."""
        return Counter(each.call.key for each in self.calls if each.effect)

    def _handle(self, call: Call) -> Answer:
        with self._lock:
            self._arrived[call.key] += 1
            answer = self.script(call, self._arrived[call.key])
            effect = answer.takes_effect
            if effect and self._dedupe:
                effect = call.key not in self._first_result
                first = self._first_result.setdefault(call.key, answer)
                answer = _replay(first, answer)
            self._exchanges.append(Exchange(call=call, answer=answer, effect=effect))
            return answer


def _replay(first: Answer, now: Answer) -> Answer:
    """The first result, delivered the way the script wants this answer delivered."""
    return Answer(
        status=first.status,
        headers=first.headers,
        body=first.body,
        applies=first.applies,
        delay_seconds=now.delay_seconds,
        drop=now.drop,
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a burst of functions connects at once; the default of 5 would refuse some

    def __init__(self, handle: Callable[[Call], Answer], closing: threading.Event) -> None:
        self.handle_call = handle
        self.closing = closing
        super().__init__(("127.0.0.1", 0), _Connection)

    def server_bind(self) -> None:
        """Bind without HTTPServer's reverse look-up of our address: seconds, where DNS is slow."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: callers that hang up are what this service is for."""


class _Connection(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds that an idle connection may stay

    def answer_call(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        call = Call(
            at=time.monotonic(),
            method=self.command,
            path=self.path,
            key=self.headers.get("Idempotency-Key", ""),
            attempt=self.headers.get("Idempotency-Attempt", ""),
            body=self.rfile.read(length),
        )
        answer = self.server.handle_call(call)
        if answer.delay_seconds:
            self.server.closing.wait(answer.delay_seconds)
        if answer.drop:
            self.close_connection = True
            return
        with contextlib.suppress(ConnectionError):  # the caller gave up
            self._send(answer)

    do_DELETE = do_GET = do_PATCH = do_POST = do_PUT = answer_call  # noqa: N815 - names that http.server asks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the overridden method's name for it
        """Say nothing: calls are recorded, not printed."""

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
