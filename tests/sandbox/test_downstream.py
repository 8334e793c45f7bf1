"""The downstream of the sandbox counts effects truthfully, whatever its callers get to hear."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from sandbox.downstream import Answer, Call, Downstream, Script
from sandbox.process_group import DIRECT


def post(downstream: Downstream, key: str, body: bytes = b"{}", seconds: float = 5) -> tuple[int, bytes]:
    request = urllib.request.Request(  # noqa: S310 - our own server
        downstream.url, data=body, headers={"Idempotency-Key": key, "Idempotency-Attempt": "3"}
    )
    try:
        with DIRECT.open(request, timeout=seconds) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()


def in_turn(*answers: Answer) -> Script:
    return lambda _call, n: answers[min(n, len(answers)) - 1]


@pytest.fixture
def downstream() -> Iterator[Downstream]:
    with Downstream() as running:
        yield running


def test_a_call_is_recorded_as_it_arrived(downstream: Downstream) -> None:
    post(downstream, "k", b'{"amount": 1}')

    (exchange,) = downstream.calls
    assert exchange.call == Call(
        at=exchange.call.at, method="POST", path="/effects", key="k", attempt="3", body=b'{"amount": 1}'
    )
    assert exchange.answer.status == 200


def test_each_accepted_call_is_an_effect_of_its_own(downstream: Downstream) -> None:
    for _ in range(2):
        assert post(downstream, "k") == (200, b"")

    assert (downstream.effects("k"), downstream.effects("other")) == (2, 0)


@pytest.mark.parametrize("status", [302, 400, 409, 503])
def test_a_refused_call_is_no_effect(downstream: Downstream, status: int) -> None:
    downstream.script = in_turn(Answer(status=status, headers={"Retry-After": "1"}), Answer())

    assert post(downstream, "k")[0] == status
    assert downstream.effects("k") == 0
    assert post(downstream, "k")[0] == 200
    assert downstream.effects("k") == 1


def test_an_answer_that_comes_too_late_or_never_is_still_an_effect(downstream: Downstream) -> None:
    downstream.script = in_turn(Answer(delay_seconds=30), Answer(drop=True), Answer(status=500, applies=True))

    with pytest.raises(TimeoutError):
        post(downstream, "k", seconds=0.1)
    with pytest.raises(http.client.RemoteDisconnected):
        post(downstream, "k")
    assert post(downstream, "k")[0] == 500
    assert downstream.effects("k") == 3


def test_a_repeated_key_gets_the_first_result_and_no_second_effect() -> None:
    answers = in_turn(
        Answer(status=201, body=b"first", drop=True), Answer(body=b"second"), Answer(status=503)
    )
    with Downstream(answers, dedupe=True) as downstream:
        with pytest.raises(http.client.RemoteDisconnected):
            post(downstream, "k")

        assert post(downstream, "k") == (201, b"first")
        assert post(downstream, "k")[0] == 503
        assert downstream.effects_by_key() == {"k": 1}


def test_it_stops_at_once_although_an_answer_is_still_under_way() -> None:
    with Downstream(in_turn(Answer(delay_seconds=30))) as downstream, pytest.raises(TimeoutError):
        post(downstream, "k", seconds=0.1)
