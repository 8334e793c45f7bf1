"""Parameter Store as the emulator keeps it: one of forty takers of a stale claim wins it."""

from collections.abc import Iterator
from typing import Any

import pytest

from idempotency.model import Key, Verdict
from sandbox.aws import Sandbox
from tests.contract.ssm.takers import TAKERS, ledger, race


@pytest.fixture(scope="module")
def parameters() -> Iterator[Any]:
    """A client of an emulator to which nothing is deployed."""
    with Sandbox() as running:
        yield running.client("ssm")


@pytest.mark.parametrize("number", range(5))
def test_exactly_one_of_forty_takes_over_a_stale_claim(number: int, parameters: Any) -> None:
    key = Key(pk=f"RegistrationExpiry:REG-{number}:2026-03-01", sk="races")
    answers = race(parameters, key)
    assert answers.count(Verdict.ACQUIRED) == 1
    assert answers.count(Verdict.IN_PROGRESS) == TAKERS - 1
    record = ledger(parameters).read(key)
    assert record is not None
    assert record.attempt == 2
