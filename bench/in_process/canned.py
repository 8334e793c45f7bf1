"""The SDK without a wire: answers that an engine once gave, given again, so that no socket is paid for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from botocore.awsrequest import AWSResponse


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def stream(self, **_: Any) -> Iterator[bytes]:
        """As botocore reads the body of an answer that has arrived."""
        yield self.body


@dataclass(frozen=True, slots=True)
class Recording:
    """What a client was asked for, as its caller put it, and what it was answered."""

    requests: list[dict[str, Any]]
    answers: list[Answer]


def recorded(client: Any, act: Callable[[], object]) -> Recording:
    """All that the client does while `act` runs, in this order."""
    recording = Recording([], [])

    def ask(params: dict[str, Any], **_: Any) -> None:
        recording.requests.append(dict(params))

    def answer(response_dict: dict[str, Any], **_: Any) -> None:
        recording.answers.append(
            Answer(response_dict["status_code"], dict(response_dict["headers"]), response_dict["body"])
        )

    events = client.meta.events
    events.register("provide-client-params", ask)
    events.register("response-received", answer)
    try:
        act()
    finally:
        events.unregister("provide-client-params", ask)
        events.unregister("response-received", answer)
    return recording


@contextmanager
def answered(client: Any, answers: list[Answer]) -> Iterator[None]:
    """The client's requests are made, signed and then answered by these in turn, over and over."""
    turn = cycle(answers)

    def answer(request: Any, **_: Any) -> AWSResponse:
        given = next(turn)
        headers: Any = given.headers  # botocore copies whatever mapping it gets
        return AWSResponse(request.url, given.status, headers, given)

    client.meta.events.register("before-send", answer)
    try:
        yield
    finally:
        client.meta.events.unregister("before-send", answer)
