"""What the sandbox counted, by workload and kind of delivery; kept in `measured.json` for docs/costs.md."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

RECORDED = Path(__file__).with_name("measured.json")
LATEST = Path(__file__).resolve().parents[2] / "build" / "bench" / "measured.json"

BATCHED = {"ingestion": "Starter", "charges": "Consumer", "registrations": "Processor"}
"""The functions that get several deliveries with one invocation."""

_DRIFT = 0.02  # of a figure, before it is worth a line: an id's length may vary


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Of one delivery, on average. Calls by `<service>:<operation>`; the rest by function.

    Invocations of those in `BATCHED` are not among them: how many there are is up to the event source.
    """

    calls: Mapping[str, float] = field(default_factory=dict)
    invocations: Mapping[str, float] = field(default_factory=dict)
    log_bytes: Mapping[str, float] = field(default_factory=dict)
    """Our own lines; not Lambda's."""
    states: float = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=_sum(self.calls, other.calls),
            invocations=_sum(self.invocations, other.invocations),
            log_bytes=_sum(self.log_bytes, other.log_bytes),
            states=self.states + other.states,
        )

    def times(self, factor: float) -> "Usage":
        return Usage(
            calls=_scaled(self.calls, factor),
            invocations=_scaled(self.invocations, factor),
            log_bytes=_scaled(self.log_bytes, factor),
            states=factor * self.states,
        )

    def less(self, other: "Usage") -> "Usage":
        """What the other has not; where there is nothing over, nothing is said."""
        left = self + other.times(-1)
        return Usage(
            calls=_left(left.calls),
            invocations=_left(left.invocations),
            log_bytes=_left(left.log_bytes),
            states=left.states,
        )

    def called(self, *operations: str) -> float:
        return sum(self.calls.get(operation, 0) for operation in operations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """`deliveries`: `new` and `duplicate`; of orders also one `item` more, and one `poll` of the status."""

    deliveries: Mapping[str, Usage]
    sizes: Mapping[str, float]
    """In bytes, and `parameters` of a key."""

    def usage(self, kind: str) -> Usage:
        return self.deliveries.get(kind, Usage())


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    measured_at: str
    command: str
    events: int
    workloads: Mapping[str, Workload]

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")

    def figures(self) -> dict[str, float]:
        """All of them, by a path in words."""
        return dict(_figures("", asdict(self)["workloads"]))


def read(path: Path) -> Measured:
    found = json.loads(path.read_text())
    workloads = {
        name: Workload(
            deliveries={kind: Usage(**usage) for kind, usage in each["deliveries"].items()},
            sizes=each["sizes"],
        )
        for name, each in found.pop("workloads").items()
    }
    return Measured(workloads=workloads, **found)


def drift(recorded: Measured, now: Measured) -> list[str]:
    """What is no more as it was, in words; log lines may be a little longer or shorter."""
    was, is_ = recorded.figures(), now.figures()
    return [
        f"{name}: {was.get(name, 0):g} when docs/costs.md was written, now {is_.get(name, 0):g}"
        for name in sorted(was.keys() | is_.keys())
        if abs(was.get(name, 0) - is_.get(name, 0)) > _DRIFT * max(was.get(name, 0), is_.get(name, 0))
    ]


def _figures(path: str, found: object) -> Iterator[tuple[str, float]]:
    if isinstance(found, Mapping):
        for name, each in found.items():
            yield from _figures(f"{path} {name}".strip(), each)
    elif isinstance(found, int | float):
        yield path, float(found)


def _sum(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def _scaled(counts: Mapping[str, float], factor: float) -> dict[str, float]:
    return {name: factor * each for name, each in counts.items()}


def _left(counts: Mapping[str, float]) -> dict[str, float]:
    """A byte more or less of a log line is none."""
    return {name: round(each, 4) for name, each in counts.items() if abs(each) >= 0.5}
