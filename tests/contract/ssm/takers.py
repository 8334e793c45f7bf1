"""Forty processes that come for one stale claim at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from idempotency.adapters.ssm import SsmLedger
from idempotency.errors import Contended
from idempotency.model import Key, Verdict
from tests.contract.engines import PREFIX
from tests.contract.lives import COLUMNS, IDEMPOTENT_DOWNSTREAM, Worker

TAKERS = 40


def race(client: Any, key: Key) -> list[Verdict | None]:
    """What each taker is answered; None for one that gave up. Each has a ledger of its own."""
    COLUMNS["X"](Worker(ledger(client), key))
    start = Barrier(TAKERS)

    def take(number: int) -> Verdict | None:
        taker = Worker(ledger(client), key, f"taker-{number}")
        start.wait(timeout=60)
        try:
            return taker.claim().verdict
        except Contended:
            return None

    with ThreadPoolExecutor(TAKERS) as threads:
        return list(threads.map(take, range(TAKERS)))


def ledger(client: Any) -> SsmLedger:
    return SsmLedger(client, PREFIX, IDEMPOTENT_DOWNSTREAM, pause=lambda _: None)
