"""The consumer at its desk: what becomes of messages, and what was told of them."""

from typing import Any

from charges.consumer import Consumer
from tests.unit.charges.desk import Desk
from tests.unit.charges.work_queue import DLQ_URL, URL, WorkQueue

MAX_RECEIVE_COUNT = 5


class Counter:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.queue = WorkQueue()

    @property
    def consumer(self) -> Consumer:
        return Consumer(
            recovery=self.desk.recovery,
            sqs=self.queue,
            queue_url=URL,
            dlq_url=DLQ_URL,
            max_receive_count=MAX_RECEIVE_COUNT,
            clock=lambda: self.desk.now,
        )

    def take(self, record: dict[str, Any]) -> bool:
        return self.consumer.take(record)
