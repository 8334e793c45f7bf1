"""A store of each test's own, and the clock that it goes by."""

from dataclasses import dataclass

import pytest

from tests.ssm.parameter_store import StrictParameterStore

START = 1_800_000_000.0


@dataclass
class Clock:
    """Stands still until it is told."""

    now: float = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> StrictParameterStore:
    return StrictParameterStore(clock)
