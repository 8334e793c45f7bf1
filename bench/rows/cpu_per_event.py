"""What guarding one event costs in processor time, beside two bare calls of the SDK and Powertools."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any

import boto3

import wiring
from bench.in_process import shipped
from bench.in_process.canned import answered, recorded
from bench.in_process.garbage import of_what_is_measured
from bench.in_process.wire import Wire
from bench.peers import powertools_idempotent
from bench.row import Goal, Row, Sample
from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.model import Key
from sandbox.demo.progress import Progress

BARE, OURS, POWERTOOLS = (
    "two bare UpdateItem, the same expressions",
    "ours: claim, complete",
    "Powertools, a client like ours",
)
POWERTOOLS_BY_DEFAULT = "Powertools, a client with botocore's defaults"
_LIMIT = 1.1
_EXECUTION = "arn:aws:states:us-east-1:123456789012:execution:Ingestion:" + 64 * "0"
_RESULT = {"status": 200, "body": '{"accepted": true}'}  # what an effect over HTTP leaves behind

_NAMES = (BARE, OURS, POWERTOOLS, POWERTOOLS_BY_DEFAULT)

Guarded = Callable[[int], object]
"""Guards the n-th event, whose effect costs nothing."""


def measure(progress: Progress, *, quick: bool) -> Row:
    rounds, events = (2, 20) if quick else (61, 100)
    taken: dict[str, list[float]] = {}
    numbers = count(1)
    with _contenders() as contenders:
        for number in range(-1, rounds):  # the round before the first warms up
            progress.step(f"CPU per guarded event, round {number + 1} of {rounds}")
            for name in sorted(contenders, reverse=number % 2 == 0):  # neither is always the first
                seconds = _seconds_per_event(contenders[name], numbers, events)
                taken.setdefault(name, []).extend([seconds] if number >= 0 else [])
    return row({name: Sample.of(taken[name]) for name in _NAMES}, events=events)


def row(taken: Mapping[str, Sample], *, events: int) -> Row:
    to_bare = taken[OURS].ratio_to(taken[BARE])
    return Row(
        title="CPU per guarded event, transport stubbed",
        goals=(
            Goal(
                what="ours, to two bare calls",
                limit=f"≤ {_LIMIT:.2f} x",
                measured=f"{to_bare:.2f} x",
                met=to_bare <= _LIMIT,
            ),
            *(_below(name, taken) for name in (POWERTOOLS, POWERTOOLS_BY_DEFAULT)),
        ),
        head=("", "CPU ms per event, median (least-most)", "to bare"),
        lines=tuple(
            (name, sample.in_milliseconds(), f"{sample.ratio_to(taken[BARE]):.2f}")
            for name, sample in taken.items()
        ),
        note=(
            f"{len(taken[OURS].values)} rounds of {events} new events each, in turn. Answers that an engine"
            " gave are given again at `before-send` of botocore: all but the socket is paid for, validation,"
            " serialisation, signature and parsing. Powertools is its `@idempotent` handler, which also takes"
            " the key out of the event."
        ),
    )


def _below(name: str, taken: Mapping[str, Sample]) -> Goal:
    ratio = taken[OURS].ratio_to(taken[name])
    return Goal(what=f"ours, to {name}", limit="< 1 x", measured=f"{ratio:.2f} x", met=ratio < 1)


def _seconds_per_event(guarded: Guarded, numbers: Iterator[int], events: int) -> float:
    """CPU seconds."""
    with of_what_is_measured():
        begun = time.process_time()
        for _ in range(events):
            guarded(next(numbers))
        return (time.process_time() - begun) / events


@contextmanager
def _contenders() -> Iterator[dict[str, Guarded]]:
    """By name, each with a client of its own."""
    with ExitStack() as entered:
        wire = entered.enter_context(Wire())
        entered.enter_context(shipped.ingestion(wire.url))
        shipped.create_resources(wire)
        ours, ledger = wiring.client("dynamodb"), wiring.ledger()
        bare, like_ours = (boto3.client("dynamodb", config=shipped.configuration(ours)) for _ in range(2))
        requests = _canned(entered, (ours, bare), lambda: _claim_and_complete(ledger, 0))
        yield {
            BARE: lambda _: [bare.update_item(**request) for request in requests],
            OURS: lambda number: _claim_and_complete(ledger, number),
            POWERTOOLS: _guarded_by_powertools(entered, like_ours),
            POWERTOOLS_BY_DEFAULT: _guarded_by_powertools(entered, boto3.client("dynamodb")),
        }


def _guarded_by_powertools(entered: ExitStack, client: Any) -> Guarded:
    handler = powertools_idempotent.handler(lambda _: _RESULT, client=client, table=shipped.POWERTOOLS_TABLE)
    _canned(entered, (client,), lambda: handler({"eventId": wiring.token()}, shipped.CONTEXT))
    return lambda number: handler({"eventId": _id(number)}, shipped.CONTEXT)


def _canned(
    entered: ExitStack, clients: Sequence[Any], act: Callable[[], object]
) -> Sequence[Mapping[str, Any]]:
    """What the first client is asked for by `act`; from now on all are answered as it was then."""
    recording = recorded(clients[0], act)
    for client in clients:
        entered.enter_context(answered(client, recording.answers))
    return recording.requests


def _claim_and_complete(ledger: DynamoDBLedger, number: int) -> None:
    key, owner, retention = Key(pk=f"orders:{_id(number)}", sk="ingestion"), _EXECUTION, 3_456_000
    claim = ledger.claim(key, owner=owner, now=wiring.clock(), lease=1200, retention=retention)
    ledger.complete(
        key,
        owner=owner,
        attempt=claim.record.attempt,
        now=wiring.clock(),
        retention=retention,
        result=_RESULT,
    )


def _id(number: int) -> str:
    return f"E-{number:08}"
