"""What the functions behind a queue do with a batch: ingestion's starter and the consumer of charges."""

from collections.abc import Generator
from typing import Any

from bench.scaling.executions import Executions
from bench.scaling.queue import Messages, Queue, arrivals, size, split
from bench.scaling.world import World

# The SDK's "standard" mode (botocore/retries/quota.py): a retry costs 5 of 500, which its success returns.
_QUOTA, _RETRY = 500, 5
_LONGEST_BACKOFF_SECONDS = 20

# As lambdas/charges/consumer.py has them.
FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 10, 900


class Starter:
    """A batch's refused starts wait for their next try together; what is refused to the end stays hidden."""

    def __init__(self, world: World, queue: Queue, executions: Executions) -> None:
        self._world = world
        self._queue = queue
        self._executions = executions
        self._quotas: list[int] = []
        """Of the environments that are idle now."""

    def handle(self, batch: list[Messages]) -> Generator[Any, Any, None]:
        world, setup = self._world, self._world.case.setup
        received, pending = world.now, size(batch)
        yield world.env.timeout(setup.seconds("Starter", effect=0, records=pending))
        quota = self._quotas.pop() if self._quotas else _QUOTA
        for attempt in range(setup.sdk_attempts):
            granted = world.start(pending)
            quota = min(_QUOTA, quota + granted * (_RETRY if attempt else 1))
            if granted:
                started, batch = split(batch, granted)
                self._executions.begin(arrivals(started))
                self._queue.delete(started)
            pending -= granted
            if not pending or attempt + 1 == setup.sdk_attempts or quota < _RETRY * pending:
                break
            quota -= _RETRY * pending
            yield world.env.timeout(world.random.random() * min(_LONGEST_BACKOFF_SECONDS, 2**attempt))
        self._quotas.append(quota)
        for messages in batch:
            self._queue.hide(messages, received + setup.visibility_seconds)


class Consumer:
    """While the downstream refuses, a charge comes back later each time; its last receive forwards it."""

    def __init__(self, world: World, queue: Queue) -> None:
        self._world = world
        self._queue = queue

    def handle(self, batch: list[Messages]) -> Generator[Any, Any, None]:
        world, setup = self._world, self._world.case.setup
        received, down = world.now, world.down
        claimed = int(world.table.take(world.now, round(setup.writes * size(batch))) / setup.writes)
        batch, throttled = split(batch, claimed)
        for messages in throttled:
            self._queue.hide(messages, received + setup.visibility_seconds)
        yield world.env.timeout(setup.seconds("Consumer", effect=world.effect, records=claimed))
        if down:
            self._refused(batch)
        else:
            self._end(batch, done=True)

    def _refused(self, batch: list[Messages]) -> None:
        """Those that came together stay together: one jitter for them."""
        for messages in batch:
            if messages.receives >= self._world.case.setup.max_receive_count:
                self._end([messages], done=False)
            else:
                seconds = retry_seconds(messages.receives)
                jitter = self._world.random.randint(0, 5 + seconds // 10)
                self._queue.hide(messages, self._world.now + seconds + jitter)

    def _end(self, batch: list[Messages], *, done: bool) -> None:
        self._queue.delete(batch)
        if batch:
            self._world.books.ended(arrivals(batch), self._world.now, done=done)


def retry_seconds(receives: int) -> int:
    """How long a charge that was refused stays hidden after so many receives; jitter comes on top."""
    return int(min(FIRST_RETRY_SECONDS * 2 ** (receives - 1), LONGEST_RETRY_SECONDS))
