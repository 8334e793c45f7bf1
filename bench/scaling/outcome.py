"""What became of a simulated hour; kept in `simulated.json` for docs/scaling.md."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

SIMULATED = Path(__file__).with_name("simulated.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Counts are of events; an event waits until its effect happened, or it is dead."""

    arrived: int
    done: int
    dead: int
    """In the dead-letter queue, or, of orders, in an execution that failed."""
    at_receive_limit: int
    """Those of the dead that SQS moved because the function could not get them through."""
    most_waiting: int
    most_open: int
    """Executions at a time."""
    longest_seconds: float
    """From an event's arrival to its end."""
    drain_seconds: float | None
    """From the end of the hour until what waits is what waits on average; None: not within the day."""
    most_receives: int
    tries: int
    throttled: int
    """Of the tries to get in: StartExecution, or a request at the gateway."""
    most_concurrency: int
    refused_invocations: int
    transitions: int
    waiting: tuple[int, ...]
    """Once a minute."""

    @property
    def throttled_share(self) -> float:
        return self.throttled / self.tries if self.tries else 0.0


def read(path: Path = SIMULATED) -> dict[str, Outcome]:
    """By the name of its case."""
    found = json.loads(path.read_text())
    return {name: Outcome(**{**each, "waiting": tuple(each["waiting"])}) for name, each in found.items()}


def write(found: Mapping[str, Outcome], path: Path = SIMULATED) -> None:
    lines = (f"  {json.dumps(name)}: {json.dumps(asdict(each))}" for name, each in found.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
