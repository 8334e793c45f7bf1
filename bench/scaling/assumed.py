"""What is assumed of the load, the downstreams and the clients: one file, `assumed.json`."""

import json
from dataclasses import dataclass
from pathlib import Path

from bench.scaling.fluid import DAY_SECONDS

ASSUMED = Path(__file__).with_name("assumed.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    events_a_day: float
    month_end_factor: float
    month_end_seconds: float
    effect_seconds: float
    """How long a downstream takes, as the functions' durations in bench/costs have it."""
    slow_effect_seconds: float
    slower_effect_seconds: float
    client_first_wait_seconds: float
    """Of a client that was told to come again; doubled each time, with full jitter."""
    client_longest_wait_seconds: float
    seed: int

    @property
    def average_rate(self) -> float:
        """Events a second."""
        return self.events_a_day / DAY_SECONDS

    @property
    def peak_rate(self) -> float:
        """Events a second during the hour at month-end."""
        return self.month_end_factor * self.average_rate


def read(path: Path = ASSUMED) -> Assumed:
    found = json.loads(path.read_text())
    del found["remark"]
    return Assumed(**found)
