"""Forty takers of one stale claim: exactly one wins, whatever each of them hears."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest

from idempotency.model import Key, Verdict
from tests.contract.engines import moto_parameters
from tests.contract.lives import NOW
from tests.contract.servers import Servers
from tests.contract.ssm.takers import TAKERS, ledger, race
from tests.ssm.parameter_store import StrictParameterStore


@contextmanager
def _overlapping() -> Iterator[StrictParameterStore]:
    """Every creation lets others begin in its middle, so that any of them may hear TooManyUpdates."""
    yield StrictParameterStore(lambda: NOW, while_creating=lambda: time.sleep(0))


STORES: dict[str, Callable[[Servers], AbstractContextManager[Any]]] = {
    "strict fake": lambda _: _overlapping(),
    "moto": lambda _: moto_parameters(),
    "ministack": lambda servers: nullcontext(servers.ministack.client("ssm")),
}


@pytest.mark.parametrize("store", STORES)
def test_exactly_one_of_forty_takes_over_a_stale_claim(store: str, servers: Servers, key: Key) -> None:
    with STORES[store](servers) as client:
        answers = race(client, key)
        record = ledger(client).read(key)
    assert set(answers) <= {Verdict.ACQUIRED, Verdict.IN_PROGRESS, None}
    assert answers.count(Verdict.ACQUIRED) <= 1  # none, if the winner heard nothing but TooManyUpdates
    assert record is not None
    assert (record.attempt, record.owner.partition("-")[0]) == (2, "taker")


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("store", ["moto", "ministack"])
def test_where_creations_do_not_overlap_everybody_hears_who_won(
    store: str, number: int, servers: Servers, key: Key
) -> None:
    with STORES[store](servers) as client:
        answers = race(client, key)
    assert answers.count(Verdict.ACQUIRED) == 1
    assert answers.count(Verdict.IN_PROGRESS) == TAKERS - 1
