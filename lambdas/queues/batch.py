"""A batch of SQS records, handled side by side; those that did not end well are named for redelivery."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from telemetry import log

Record = dict[str, Any]  # one record of a Lambda event from SQS


def process_batch(
    records: Sequence[Record],
    handle: Callable[[Record], None],
    *,
    concurrency: int,
    seconds_left: Callable[[], float],
    worst_case_seconds: float,
) -> dict[str, list[dict[str, str]]]:
    """The partial batch response: a record stays on the queue if `handle` raised or had no time to start.

    At most `concurrency` records run at once; none is begun with less than `worst_case_seconds` left, so the
    function never times out under one; every thread has ended when this returns.
    """

    def settled(record: Record) -> bool:
        if seconds_left() < worst_case_seconds:
            log.warning("not started: too little time left", message_id=record["messageId"])
            return False
        try:
            handle(record)
        except Exception:  # noqa: BLE001 - one record's failure must not touch its neighbours
            log.exception("record failed; it stays on the queue", message_id=record["messageId"])
            return False
        return True

    with ThreadPoolExecutor(max_workers=min(concurrency, max(len(records), 1))) as threads:
        outcomes = list(threads.map(settled, records))
    return {
        "batchItemFailures": [
            {"itemIdentifier": record["messageId"]}
            for record, ended_well in zip(records, outcomes, strict=True)
            if not ended_well
        ]
    }
