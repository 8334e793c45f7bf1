"""Fifty threads call for one key at once, on any ledger: one of them does the work."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from idempotency.model import Record, State
from idempotency.run_once import Outcome
from tests.unit.idempotency.workshop import TAKEOVER, Workshop

THREADS = 50


def _meet(barrier: Barrier) -> None:
    barrier.wait(timeout=30)


@pytest.mark.parametrize("taken_over", [False, True], ids=["new", "taken over"])
def test_of_fifty_calls_one_executes_and_the_others_skip(taken_over: bool, repeatable: Workshop) -> None:
    """All claims are made before the work ends, so that none of them can find it done."""
    start, waiting = Barrier(THREADS), Barrier(THREADS)
    attempts = []
    if taken_over:
        repeatable.guard.claim("job")
        repeatable.now = TAKEOVER

    def work(claim: Record) -> None:
        attempts.append(claim.attempt)
        _meet(waiting)

    def call(_: int) -> Outcome:
        _meet(start)
        outcome = repeatable.guard.run_exactly_once("job", work).outcome
        if outcome is Outcome.SKIPPED_IN_FLIGHT:
            _meet(waiting)
        return outcome

    with ThreadPoolExecutor(THREADS) as threads:
        outcomes = Counter(threads.map(call, range(THREADS)))
    assert outcomes == {Outcome.EXECUTED: 1, Outcome.SKIPPED_IN_FLIGHT: THREADS - 1}
    assert attempts == [2 if taken_over else 1]
    assert repeatable.record().state is State.DONE


def test_calls_for_different_keys_do_not_meet(workshop: Workshop) -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        outcomes = Counter(threads.map(lambda n: workshop.run(f"job-{n}").outcome, range(THREADS)))
    assert outcomes == {Outcome.EXECUTED: THREADS}
