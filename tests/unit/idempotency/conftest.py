"""A workshop of each kind."""

import pytest

from idempotency.model import Semantics
from tests.unit.idempotency.workshop import LEDGERS, Workshop


@pytest.fixture(params=LEDGERS)
def ledger(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=list(Semantics))
def workshop(ledger: str, request: pytest.FixtureRequest) -> Workshop:
    """One on each ledger, of each semantics."""
    return Workshop(ledger, request.param)


@pytest.fixture
def once(ledger: str) -> Workshop:
    return Workshop(ledger, Semantics.AT_MOST_ONCE)


@pytest.fixture
def repeatable(ledger: str) -> Workshop:
    return Workshop(ledger, Semantics.IDEMPOTENT_DOWNSTREAM)
