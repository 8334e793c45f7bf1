"""A ledger on a strict Parameter Store of the test's own, whose wire can be watched and disturbed."""

from dataclasses import dataclass, field

import pytest

from idempotency.adapters.ssm import SsmLedger
from idempotency.model import Key, Policy
from tests.contract.engines import PREFIX
from tests.contract.lives import NOW
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.resending import Resending


@dataclass
class Time:
    """Passes while somebody pauses."""

    now: float = NOW
    pauses: list[float] = field(default_factory=list)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def store(time: Time) -> StrictParameterStore:
    return StrictParameterStore(lambda: time.now)


@pytest.fixture
def ledger(store: StrictParameterStore, time: Time, policy: Policy) -> SsmLedger:
    """Over an SDK that sends what it heard nothing of once more."""
    return SsmLedger(Resending(store, attempts=2), PREFIX, policy, pause=time.pause)


@pytest.fixture
def calls(store: StrictParameterStore) -> list[str]:
    """The operations that go over the wire, those that are sent again too."""
    return store.faults.journal


@pytest.fixture
def path(key: Key) -> str:
    """Where the key's numbers are."""
    return f"{PREFIX}/{key.digest()}"
