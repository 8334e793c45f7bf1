"""A desk of each kind."""

import random

import pytest

from idempotency.model import Semantics
from tests.unit.charges.counter import Counter
from tests.unit.charges.desk import Desk


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


@pytest.fixture
def counter(desk: Desk) -> Counter:
    return Counter(desk)


@pytest.fixture(autouse=True)
def repeatable_jitter() -> None:
    random.seed(7)
