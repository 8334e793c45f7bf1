"""Calls to the store for a new event and for a duplicate, counted on the wire, beside Powertools'."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import boto3

import wiring
from bench.in_process import shipped
from bench.in_process.deliveries import Charges, Ingestion, Workload
from bench.in_process.wire import READS, Traffic, Wire
from bench.peers import powertools_idempotent
from bench.row import Goal, Row
from sandbox.demo.progress import Progress

INGESTION, CHARGES, POWERTOOLS = "ours, ingestion", "ours, charges", "Powertools"
_OURS = (INGESTION, CHARGES)
_GOAL = (2, 1)

Deliver = Callable[[str], object]
"""Delivers the event with this id once more, and handles the delivery to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What went to the store: for each event, when it was new, and when it came again."""

    new: list[Traffic]
    duplicate: list[Traffic]

    @property
    def counts(self) -> str:
        return f"{_spread(self.new)} / {_spread(self.duplicate)}"

    @property
    def reads(self) -> int:
        return sum(each.calls(*READS) for each in self.new + self.duplicate)


def measure(progress: Progress, *, quick: bool) -> Row:
    events = [f"S-{number}" for number in range(2 if quick else 25)]
    seen: dict[str, Seen] = {}
    with Wire() as wire:
        for name, contender in _CONTENDERS.items():
            progress.step(f"calls to the store: {name}")
            with contender(wire) as deliver:
                seen[name] = Seen(
                    new=[_traffic(wire, deliver, event) for event in events],
                    duplicate=[_traffic(wire, deliver, event) for event in events],
                )
    return row(seen)


def row(seen: Mapping[str, Seen]) -> Row:
    limit = " / ".join(map(str, _GOAL))
    return Row(
        title="Calls to the store",
        goals=(
            *(
                Goal(
                    what=f"{name}: new event / duplicate",
                    limit=limit,
                    measured=seen[name].counts,
                    met=seen[name].counts == limit,
                )
                for name in _OURS
            ),
            Goal(
                what="reads",
                limit="0",
                measured=str(sum(seen[name].reads for name in _OURS)),
                met=not any(seen[name].reads for name in _OURS),
            ),
        ),
        head=("", "calls, new event / duplicate", "of them reads", "bytes, new event", "bytes, duplicate"),
        lines=tuple(
            (name, each.counts, str(each.reads), _bytes(each.new), _bytes(each.duplicate))
            for name, each in seen.items()
        ),
        note=(
            f"{len(seen[INGESTION].new)} events, then a duplicate of each, through the shipped functions;"
            " requests to DynamoDB as they arrived at an engine on loopback, the SDK's own retries included."
            " Bytes are up and down, heads included, on average. Ours also says who owns an event, on which"
            " attempt, and is answered with the record that it wrote or that stands in the way."
        ),
    )


def _traffic(wire: Wire, deliver: Deliver, event: str) -> Traffic:
    wire.take()
    deliver(event)
    return wire.take().to_the_store


@contextmanager
def _ingestion(wire: Wire) -> Iterator[Deliver]:
    with shipped.ingestion(wire.url):
        shipped.create_resources(wire)
        yield _delivering(Ingestion(wire.url))


@contextmanager
def _charges(wire: Wire) -> Iterator[Deliver]:
    with shipped.charges(wire.url):
        yield _delivering(Charges())


@contextmanager
def _powertools(wire: Wire) -> Iterator[Deliver]:
    with shipped.ingestion(wire.url):
        client = boto3.client("dynamodb", config=shipped.configuration(wiring.client("dynamodb")))
        handler = powertools_idempotent.handler(
            lambda _: {"accepted": True}, client=client, table=shipped.POWERTOOLS_TABLE
        )
        yield lambda event: handler({"eventId": event}, shipped.CONTEXT)


_CONTENDERS = {INGESTION: _ingestion, CHARGES: _charges, POWERTOOLS: _powertools}


def _delivering(workload: Workload) -> Deliver:
    return lambda event: workload.deliver([workload.body(event)])


def _spread(traffic: list[Traffic]) -> str:
    """`2`; `2-3` if it differs from event to event."""
    return "-".join(str(calls) for calls in sorted({each.calls() for each in traffic}))


def _bytes(traffic: list[Traffic]) -> str:
    return f"{sum(each.bytes() for each in traffic) / len(traffic):,.0f}"
