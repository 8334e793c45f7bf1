"""Fifty threads deliver one charge at once, on any store: it is debited once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from charges.model import ChargeStatus
from charges.service import Outcome, Settled, Wait
from idempotency.model import Semantics, State
from tests.contract.engines import ENGINES
from tests.unit.charges.desk import CHARGE, KEY, LEASE, NOW, RETENTION, TAKEOVER, Desk, policy

THREADS = 50
KIND = Semantics.IDEMPOTENT_DOWNSTREAM


def _race(desk: Desk) -> Counter[Outcome]:
    """All claims are made before the debit ends, so that none of them can find it done."""
    start, waiting = Barrier(THREADS), Barrier(THREADS)
    desk.bank.meanwhile = lambda: _meet(waiting)

    def deliver(number: int) -> Outcome:
        start.wait(timeout=30)
        outcome = desk.recovery.recover(CHARGE, owner=f"racer-{number}")
        if isinstance(outcome, Wait):
            _meet(waiting)
        return outcome

    with ThreadPoolExecutor(THREADS) as threads:
        return Counter(threads.map(deliver, range(THREADS)))


def _meet(barrier: Barrier) -> None:
    barrier.wait(timeout=30)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("taken_over", [False, True], ids=["new", "taken over"])
def test_of_fifty_deliveries_one_debits_and_the_others_wait(taken_over: bool, engine: str) -> None:
    with ENGINES[engine]() as store:
        desk = Desk(KIND, store.ledger(policy(KIND)))
        if taken_over:
            desk.ledger.claim(
                KEY,
                owner="silent",
                now=NOW,
                lease=LEASE,
                retention=RETENTION,
                fingerprint=CHARGE.fingerprint,
            )
            desk.now = TAKEOVER
        until = desk.now + LEASE + 10
        assert _race(desk) == {Settled(status=ChargeStatus.DEBITED): 1, Wait(until=until): THREADS - 1}
        assert desk.bank.debits == [("CHG-1", 2 if taken_over else 1)]
        assert len(desk.customers.told) == 1
        assert desk.record.state is State.DONE
