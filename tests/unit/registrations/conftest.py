"""A desk of each kind, and the account that the functions are wired to."""

import random
from collections.abc import Iterator

import pytest

import wiring
from idempotency.model import Semantics
from registrations import processor
from tests.unit.registrations.account import ENVIRONMENT, Account
from tests.unit.registrations.desk import Desk


@pytest.fixture(params=list(Semantics))
def desk(request: pytest.FixtureRequest) -> Desk:
    """One of each semantics."""
    return Desk(request.param)


@pytest.fixture
def once() -> Desk:
    return Desk(Semantics.AT_MOST_ONCE)


@pytest.fixture
def repeatable() -> Desk:
    return Desk(Semantics.IDEMPOTENT_DOWNSTREAM)


@pytest.fixture(autouse=True)
def repeatable_order() -> None:
    random.seed(7)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """The functions are wired to it; every test builds them anew."""
    account = Account()
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(wiring, "client", account.client)
    monkeypatch.setattr(wiring, "http_effect", account.http_effect)
    monkeypatch.setattr(wiring, "clock", lambda: account.now)
    monkeypatch.setattr(wiring, "pause", account.paused.append)
    for made_once in (processor._processor, wiring.ssm_ledger):
        made_once.cache_clear()
    yield account
    for made_once in (processor._processor, wiring.ssm_ledger):
        made_once.cache_clear()
