"""Fifty threads, one key: the store lets exactly one of them in."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from idempotency.ledger import Ledger
from idempotency.model import Key, Policy, Verdict
from tests.contract.lives import COLUMNS, NOW, POLICIES, RETENTION, Worker

THREADS = 50

eager = pytest.mark.parametrize("policy", [POLICIES["idempotent-downstream, retry"]], ids=["eager"])


def _race(ledger: Ledger, key: Key) -> Counter[Verdict]:
    start = Barrier(THREADS)

    def run(number: int) -> Verdict:
        racer = Worker(ledger, key, f"racer-{number}")
        start.wait(timeout=30)
        return racer.claim().verdict

    with ThreadPoolExecutor(THREADS) as threads:
        return Counter(threads.map(run, range(THREADS)))


@eager
@pytest.mark.parametrize("column", ["absent", "X"])
def test_exactly_one_of_fifty_claims_is_acquired(column: str, policy: Policy, worker: Worker) -> None:
    COLUMNS[column](worker)
    answers = _race(worker.ledger, worker.key)
    assert answers == {Verdict.ACQUIRED: 1, Verdict.IN_PROGRESS: THREADS - 1}
    assert worker.read().attempt == (1 if column == "absent" else 2)


def test_exactly_one_of_fifty_revives_what_expired_while_its_outcome_was_open(worker: Worker) -> None:
    """The one claim that may take two writes on DynamoDB."""
    worker.claim(now=NOW - RETENTION)
    answers = _race(worker.ledger, worker.key)
    assert answers == {Verdict.ACQUIRED: 1, Verdict.IN_PROGRESS: THREADS - 1}
    assert (worker.read().attempt, worker.read().unknown) == (2, False)
