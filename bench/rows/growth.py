"""How calls, bytes, states and CPU of an event grow with its duplicates, with the batch, with its payload."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, pairwise

from bench.in_process import shipped
from bench.in_process.deliveries import Charges, Ingestion, Workload
from bench.in_process.garbage import of_what_is_measured
from bench.in_process.wire import Wire
from bench.row import Goal, Row, Sample
from sandbox.demo.progress import Progress

INGESTION, CHARGES = "ingestion", "charges"
DUPLICATES, BATCHES, PAYLOADS = "duplicates per event", "messages per batch", "KB of payload"
AMOUNTS = {DUPLICATES: (0, 1, 2, 5, 10), BATCHES: (1, 2, 5, 10), PAYLOADS: (1, 10, 50, 200)}
_FLAT = 1.05
_MORE_FOR_LARGE = 1.5  # two hundred times the payload: read, escaped and sent on

_ids = count(1)


@dataclass(frozen=True, slots=True)
class At:
    """A point of a curve: so many duplicates, messages or KB."""

    workload: str
    axis: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PerEvent:
    """What one event takes, its duplicates included, as the mean over those of a run; CPU in seconds."""

    store_calls: float
    store_bytes: float
    other_bytes: float
    states: float
    cpu: float


Curves = Mapping[At, Sequence[PerEvent]]
"""Of each point, one measurement a round."""


def measure(progress: Progress, *, quick: bool) -> Row:
    rounds, events = (1, 1) if quick else (9, 10)
    curves: dict[At, list[PerEvent]] = {}
    with Wire() as wire:
        for name, begin in _WORKLOADS.items():
            with begin(wire) as workload:
                for number in range(0 if quick else -1, rounds):  # the round before the first warms up
                    progress.step(f"growth of {name}, round {number + 1} of {rounds}")
                    for at in _points(name):
                        with of_what_is_measured():
                            measured = _measured(at, wire, workload, events)
                        curves.setdefault(at, []).extend([measured] if number >= 0 else [])
    return row(curves)


def row(curves: Curves) -> Row:
    return Row(
        title="Growth",
        goals=tuple(_goals(curves)),
        head=(
            "per event, its duplicates included",
            "store calls",
            "store bytes",
            "other bytes",
            "states",
            "CPU ms, median (least-most)",
        ),
        lines=tuple(
            (
                f"{at.workload}, {at.axis}: {at.amount}",
                f"{_counted(curves, at, 'store_calls'):g}",
                f"{_counted(curves, at, 'store_bytes'):,.0f}",
                f"{_counted(curves, at, 'other_bytes'):,.0f}",
                f"{_counted(curves, at, 'states'):g}" if at.workload == INGESTION else "-",
                _cpu(curves, at).in_milliseconds(),
            )
            for at in curves
        ),
        note=(
            "The shipped functions in one process; duplicates come one after the other, when the event is"
            " done. Bytes up and down, heads included, counted on the wire: to the store, and to the others"
            " (StartExecution and the effect; debit and notification). The body of a message goes out with"
            " StartExecution and with the effect: ingestion's other bytes grow by twice the payload, and CPU"
            " with them. Charges sends on only what a charge consists of. States are those of the definition,"
            " walked. CPU is that of the functions, HTTP included."
        ),
    )


def _goals(curves: Curves) -> Iterator[Goal]:
    """Flat, each of them, in every workload; or, for duplicates, so much more for each one more."""

    def values(name: str, axis: str, field: str) -> list[float]:
        return [_counted(curves, At(name, axis, amount), field) for amount in AMOUNTS[axis]]

    def for_one_more(name: str, field: str) -> list[float]:
        return [
            (later - before) / (more - fewer)
            for (before, later), (fewer, more) in zip(
                pairwise(values(name, DUPLICATES, field)), pairwise(AMOUNTS[DUPLICATES]), strict=True
            )
        ]

    def cpu(axis: str) -> float:
        """Of the last point to the first, in the workload where it is most."""
        ends = AMOUNTS[axis][0], AMOUNTS[axis][-1]
        pairs = [[_cpu(curves, At(name, axis, end)) for end in ends] for name in _WORKLOADS]
        return max(last.ratio_to(first) for first, last in pairs)

    yield _exactly(
        "store calls for one more duplicate", 1, [for_one_more(n, "store_calls") for n in _WORKLOADS]
    )
    yield _flat("store bytes for one more duplicate", [for_one_more(n, "store_bytes") for n in _WORKLOADS])
    yield _exactly("states for one more duplicate", 3, [for_one_more(INGESTION, "states")])
    for axis in (BATCHES, PAYLOADS):
        yield _exactly(
            f"store calls, whatever the {axis}", 2, [values(n, axis, "store_calls") for n in _WORKLOADS]
        )
        yield _flat(f"store bytes, whatever the {axis}", [values(n, axis, "store_bytes") for n in _WORKLOADS])
        yield _exactly(f"states, whatever the {axis}", 3, [values(INGESTION, axis, "states")])
    smallest, largest = AMOUNTS[PAYLOADS][0], AMOUNTS[PAYLOADS][-1]
    yield _at_most("CPU in the largest batch, to alone", _FLAT, cpu(BATCHES))
    yield _at_most(f"CPU with {largest} KB, to {smallest} KB", _MORE_FOR_LARGE, cpu(PAYLOADS))


def _exactly(what: str, limit: int, curves: Sequence[Sequence[float]]) -> Goal:
    distinct = sorted({value for curve in curves for value in curve})
    measured = "-".join(f"{value:g}" for value in distinct)
    return Goal(what=what, limit=str(limit), measured=measured, met=distinct == [limit])


def _flat(what: str, curves: Sequence[Sequence[float]]) -> Goal:
    return _at_most(f"{what}, most to least", _FLAT, max(max(curve) / min(curve) for curve in curves))


def _at_most(what: str, limit: float, measured: float) -> Goal:
    return Goal(what=what, limit=f"≤ {limit} x", measured=f"{measured:.2f} x", met=measured <= limit)


def _counted(curves: Curves, at: At, field: str) -> float:
    """The mean over the rounds."""
    return statistics.fmean(getattr(each, field) for each in curves[at])


def _cpu(curves: Curves, at: At) -> Sample:
    return Sample.of([each.cpu for each in curves[at]])


def _points(name: str) -> Iterator[At]:
    return (At(name, axis, amount) for axis, amounts in AMOUNTS.items() for amount in amounts)


def _measured(at: At, wire: Wire, workload: Workload, events: int) -> PerEvent:
    events = max(events, at.amount) if at.axis == BATCHES else events
    size = at.amount * 1024 if at.axis == PAYLOADS else 0
    bodies = [workload.body(f"G-{next(_ids):07}", size=size) for _ in range(events)]
    wire.take()
    states, before = 0, workload.invocations.seconds
    for batch in _batches(at, bodies):
        states += sum(map(len, workload.deliver(batch)))
    traffic = wire.take()
    return PerEvent(
        store_calls=traffic.to_the_store.calls() / events,
        store_bytes=traffic.to_the_store.bytes() / events,
        other_bytes=(traffic.bytes() - traffic.to_the_store.bytes()) / events,
        states=states / events,
        cpu=(workload.invocations.seconds - before) / events,
    )


def _batches(at: At, bodies: Sequence[str]) -> Iterator[Sequence[str]]:
    if at.axis == BATCHES:
        for begin in range(0, len(bodies), at.amount):
            yield bodies[begin : begin + at.amount]
    else:
        deliveries = 1 + at.amount if at.axis == DUPLICATES else 1
        for body in bodies:
            yield from [[body]] * deliveries


@contextmanager
def _ingestion(wire: Wire) -> Iterator[Workload]:
    with shipped.ingestion(wire.url):
        shipped.create_resources(wire)
        yield Ingestion(wire.url)


@contextmanager
def _charges(wire: Wire) -> Iterator[Workload]:
    with shipped.charges(wire.url):
        yield Charges()


_WORKLOADS = {INGESTION: _ingestion, CHARGES: _charges}
