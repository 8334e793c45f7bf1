"""What can't be measured without an account, in one file, `assumed.json`: durations and AWS's own logs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ASSUMED = Path(__file__).with_name("assumed.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """Of one delivery in a function. It computes while `busy`, which more memory shortens, else it waits."""

    busy_ms: float
    waiting_ms: float
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    durations: Mapping[str, Duration]
    """By function; `<function>:duplicate` where a duplicate takes another time."""
    durations_at_mb: float
    """With how much memory they hold."""
    express_ms: float
    express_map_ms: float
    """Of an execution over a batch of messages."""
    express_memory_mb: float
    invocation_log_bytes: float
    """Lambda's own lines about an invocation, which ours are on top of."""
    execution_log_bytes: float
    transitions_of_a_start: float
    """Whether AWS counts the start of an execution as one, too."""
    readers_with_max_concurrency: int
    """Of an event source mapping, that go on polling an idle queue."""
    readers_without: int
    polls_per_reader_and_minute: float
    ttl_lag_days: float
    advanced_parameter_hours: float

    def duration(self, function: str, *, duplicate: bool = False) -> Duration:
        own = self.durations.get(f"{function}:duplicate") if duplicate else None
        return own or self.durations[function]

    def times(self, factor: float) -> "Assumed":
        """With all durations of functions longer by this factor."""
        return replace(
            self,
            durations={
                name: replace(each, busy_ms=factor * each.busy_ms, waiting_ms=factor * each.waiting_ms)
                for name, each in self.durations.items()
            },
        )


def read(path: Path = ASSUMED) -> Assumed:
    found: dict[str, Any] = json.loads(path.read_text())
    del found["remark"]
    durations = {name: Duration(**each) for name, each in found.pop("durations").items()}
    return Assumed(durations=durations, **found)
