"""How long a batch of ten messages takes whose effects take 200 ms each: side by side, and in turn."""

import json
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from itertools import count
from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType

import wiring
from bench import stage
from bench.in_process import shipped
from bench.row import Goal, Row, Sample
from charges.consumer import Consumer
from charges.model import Charge
from charges.service import ChargeRecovery, Terms
from idempotency.adapters.memory import MemoryLedger
from idempotency.model import Policy, Semantics
from queues.batch import process_batch
from sandbox.demo.progress import Progress

MESSAGES, EFFECT_SECONDS = 10, 0.2
OURS, SEQUENTIAL, POWERTOOLS = "ours", "ours, concurrency 1", "Powertools' batch processor"
_LIMIT = 6

Records = list[dict[str, Any]]


class _Bank:
    """Takes its time over each debit."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def debit(self, _charge: Charge, *, attempt: int) -> object:
        time.sleep(self._seconds)
        return {"attempt": attempt}

    def notify(self, _charge: Charge, *, attempt: int) -> None:
        """At once."""


def contenders(seconds: float) -> dict[str, Callable[[Records], int]]:
    """Each handles a batch whose debits take so long, and answers how many messages stay."""
    consumer, concurrency = _consumer(seconds), stage.settings().charges.delivery.concurrency
    processor = BatchProcessor(event_type=EventType.SQS)

    def ours(records: Records, *, side_by_side: int = concurrency) -> int:
        answer = process_batch(
            records, consumer.take, concurrency=side_by_side, seconds_left=lambda: 60, worst_case_seconds=1
        )
        return len(answer["batchItemFailures"])

    def powertools(records: Records) -> int:
        with processor(records, lambda record: consumer.take(record.raw_event)):
            processor.process()
        return len(processor.response()["batchItemFailures"])

    return {OURS: ours, SEQUENTIAL: partial(ours, side_by_side=1), POWERTOOLS: powertools}


def measure(progress: Progress, *, quick: bool) -> Row:
    rounds = 1 if quick else 7
    taken: dict[str, list[float]] = {}
    numbers = count(1)
    with shipped.charges("http://127.0.0.1:9"):  # where nobody is: only failures call AWS
        for number in range(rounds):
            progress.step(f"batches of {MESSAGES}, round {number + 1} of {rounds}")
            for name, handle in contenders(EFFECT_SECONDS).items():
                messages = batch(numbers)
                with shipped.NOWHERE.open("w") as nowhere, redirect_stdout(nowhere):  # metrics are lines
                    begun = time.perf_counter()
                    failed = handle(messages)
                    taken.setdefault(name, []).append(time.perf_counter() - begun)
                if failed:
                    raise RuntimeError(f"{name}: {failed} messages failed")
    return row({name: Sample.of(seconds) for name, seconds in taken.items()})


def row(taken: dict[str, Sample]) -> Row:
    faster = taken[SEQUENTIAL].ratio_to(taken[OURS])
    return Row(
        title=f"A batch of {MESSAGES} charges whose debits take {1000 * EFFECT_SECONDS:.0f} ms",
        goals=(
            Goal(
                what="as fast as one after the other",
                limit=f"≥ {_LIMIT} x",
                measured=f"{faster:.1f} x",
                met=faster >= _LIMIT,
            ),
        ),
        head=("", "ms, median (least-most)", "as fast as one after the other"),
        lines=tuple(
            (name, sample.in_milliseconds(), f"{taken[SEQUENTIAL].ratio_to(sample):.1f} x")
            for name, sample in taken.items()
        ),
        note="Wall time, in turn: the shipped consumer, its ledger in memory, the concurrency of stage prod."
        " Powertools' AsyncBatchProcessor runs coroutines side by side; none of its processors looks at the"
        " time that is left.",
    )


def batch(numbers: "count[int]") -> Records:
    """Of charges that nobody has seen before."""
    return [
        {
            "messageId": f"m-{number}",
            "receiptHandle": f"h-{number}",
            "body": json.dumps(
                {
                    "chargeId": f"CHG-{number}",
                    "accountId": "A-1",
                    "amount": "12.50",
                    "currency": "EUR",
                    "type": "FEE",
                    "dueAt": "2026-01-01T00:00:00Z",
                }
            ),
            "attributes": {"ApproximateReceiveCount": "1"},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
        }
        for number in (next(numbers) for _ in range(MESSAGES))
    ]


def _consumer(seconds: float) -> Consumer:
    settings, bank = stage.settings().charges, _Bank(seconds)
    semantics = Semantics(settings.semantics)
    return Consumer(
        recovery=ChargeRecovery(
            ledger=MemoryLedger(Policy(semantics=semantics, margin=settings.margin_seconds)),
            bank=bank,
            notifications=bank,
            clock=wiring.clock,
            terms=Terms(
                semantics=semantics,
                namespace=settings.namespace,
                lease=settings.lease_seconds,
                margin=settings.margin_seconds,
                retention=settings.retention_seconds,
            ),
        ),
        sqs=None,  # only failures call it
        queue_url="",
        dlq_url="",
        max_receive_count=settings.queue.max_receive_count,
        clock=wiring.clock,
    )
