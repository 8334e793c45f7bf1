"""Lambda's event source mapping of a queue: polls, invokes, deletes what the function reported as handled."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.simulation.aws.sqs import Message, Queue
from tests.simulation.scheduler import Scheduler

_BETWEEN_POLLS = (1, 5, 20)  # seconds


@dataclass(frozen=True, slots=True)
class Context:
    """What Lambda tells a function of its invocation."""

    scheduler: Scheduler

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int(self.scheduler.time_left() * 1000))


@dataclass(slots=True, kw_only=True)
class EventSource:
    """`timeout` and `visibility` in seconds. `undeleted` is the share of deletions that SQS forgets, and of
    messages that it delivers while they are in flight. `on_delete` is told before a message goes, and
    under which receipt.
    """

    scheduler: Scheduler
    queue: Queue
    function: Callable[[dict[str, Any], Context], dict[str, Any]]
    batch_size: int
    timeout: int
    visibility: int
    skew: Callable[[], int]
    undeleted: float
    on_delete: Callable[[Message, str], None]
    invocations: int = 0
    running: int = 0

    def poll(self, *, until: float) -> None:
        """An actor's body: until then, or, when that is over, until the queue is empty."""
        scheduler = self.scheduler
        while scheduler.now < until or self.queue.messages or self.running:
            self._receive()
            visible = min((each.visible_at for each in self.queue.messages), default=scheduler.now)
            idle = visible - scheduler.now if scheduler.now >= until else 0
            scheduler.pause(max(idle, scheduler.chance.choice(_BETWEEN_POLLS)))

    def _receive(self) -> None:
        chance = self.scheduler.chance
        for message in self.queue.messages:
            if chance.random() < self.undeleted:
                message.visible_at = self.scheduler.now
        batch = self.queue.receive(
            chance.randint(1, self.batch_size), visibility=self.visibility, chance=chance
        )
        if batch:
            self.invocations += 1
            self.running += 1
            deliver = partial(
                self._deliver,
                f"invocation {self.invocations}",
                batch,
                receipts=[message.receipts[-1] for message in batch],
                event={"Records": [message.record() for message in batch]},
            )
            self.scheduler.start(f"poller of {self.invocations}", deliver)

    def _deliver(
        self, name: str, batch: list[Message], *, receipts: list[str], event: dict[str, Any]
    ) -> None:
        scheduler = self.scheduler
        answers: list[dict[str, Any]] = []
        worker = scheduler.start(
            name,
            lambda: answers.append(self.function(event, Context(scheduler))),
            lifetime=self.timeout,
            skew=self.skew(),
        )
        scheduler.note(f"delivers {', '.join(receipts)} to {name}")
        scheduler.wait_for([worker])
        self.running -= 1
        for answer in answers:
            left = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
            for message, receipt in zip(batch, receipts, strict=True):
                if message.id not in left and scheduler.chance.random() >= self.undeleted:
                    self.on_delete(message, receipt)
                    self.queue.delete(message)
