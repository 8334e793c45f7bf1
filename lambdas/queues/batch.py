"""A batch of SQS records, handled side by side; those that did not end well are named for redelivery."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from telemetry import log

Record = dict[str, Any]  # one record of a Lambda event from SQS


def process_batch(
    records: Sequence[Record],
    handle: Callable[[Record], bool],
    *,
    concurrency: int,
    seconds_left: Callable[[], float],
    worst_case_seconds: float,
    unstarted: Callable[[Record], None] | None = None,
) -> dict[str, list[dict[str, str]]]:
    """The partial batch response: a record stays on the queue unless `handle` says it may be acknowledged.

    One for which `handle` raises stays, too. At most `concurrency` records run at once; none is begun with
    less than `worst_case_seconds` left, so the function never times out under one: it goes to `unstarted`
    instead. Every thread has ended when this returns.
    """

    def settled(record: Record) -> bool:
        try:
            if seconds_left() >= worst_case_seconds:
                return handle(record)
            log.warning("not started: too little time left", message_id=record["messageId"])
            if unstarted:
                unstarted(record)
        except Exception:  # noqa: BLE001 - one record's failure must not touch its neighbours
            log.exception("record failed; it stays on the queue", message_id=record["messageId"])
        return False

    with ThreadPoolExecutor(max_workers=min(concurrency, max(len(records), 1))) as threads:
        outcomes = list(threads.map(settled, records))
    return {
        "batchItemFailures": [
            {"itemIdentifier": record["messageId"]}
            for record, ended_well in zip(records, outcomes, strict=True)
            if not ended_well
        ]
    }
