"""What is remembered of guarded calls in a context."""

from collections.abc import Iterator
from contextvars import Context, copy_context

import pytest

from powertools_fencing import calls


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    token = calls._calls.set(())
    yield
    calls._calls.reset(token)


def _claim(payload: object, prefix: str) -> None:
    with calls.claiming(payload, prefix):
        pass


def test_a_call_is_found_again_by_its_payload_and_then_forgotten() -> None:
    outer, inner = {"orderId": 1}, {"orderId": 1}
    _claim(outer, "outer")
    _claim(inner, "inner")
    with calls.ending(inner) as call:
        assert call is calls.current()
        assert call.prefix == "inner"
    with calls.ending(inner) as call:
        assert call is None
    with calls.ending(outer) as call:
        assert call is calls.current()
        assert call.prefix == "outer"


def test_one_payload_in_two_calls_belongs_to_the_inner_one_first() -> None:
    for prefix in ("outer", "inner"):
        _claim("O-1", prefix)
    for prefix in ("inner", "outer"):
        with calls.ending("O-1") as call:
            assert call is not None
            assert call.prefix == prefix


def test_a_call_whose_end_went_unreported_is_forgotten_with_the_one_around_it() -> None:
    outer, lost = {"orderId": 1}, {"orderId": 2}
    _claim(outer, "outer")
    _claim(lost, "lost")
    with calls.ending(outer):
        pass
    with calls.ending(lost) as call:
        assert call is None


def test_a_claim_that_failed_is_forgotten() -> None:
    payload = {"orderId": 1}
    with pytest.raises(TimeoutError), calls.claiming(payload, "charge"):
        raise TimeoutError
    with calls.ending(payload) as call:
        assert call is None


def test_unreported_ends_do_not_fill_the_memory() -> None:
    payloads = [{"orderId": number} for number in range(3_000)]
    for payload in payloads:
        _claim(payload, "charge")
    assert len(calls._calls.get()) <= 1_001
    with calls.ending(payloads[-1]) as call:
        assert call is not None


def test_no_two_calls_have_one_token() -> None:
    owners = set()
    for _ in range(100):
        _claim("O-1", "charge")
        owners.add(calls.current().owner)
    assert len(owners) == 100


def test_what_a_thread_inherits_it_does_not_share() -> None:
    payload = {"orderId": 1}
    _claim(payload, "charge")
    inherited: Context = copy_context()

    def end() -> None:
        with calls.ending(payload) as call:
            assert call is not None

    inherited.run(end)
    end()
