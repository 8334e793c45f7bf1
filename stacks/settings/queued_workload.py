"""What can be set of every workload that takes its events from a queue."""

from dataclasses import dataclass, field

from stacks.settings.workload import ClaimingWorkloadSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings:
    """The work queue and its dead-letter queue."""

    visibility_timeout_seconds: int = 360
    retention_days: int = 4
    dead_letter_retention_days: int = 14
    max_receive_count: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySettings:
    """How messages reach the function behind the queue."""

    batch_size: int = 10
    batch_window_seconds: int = 0
    max_concurrency: int = 10  # invocations at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedWorkloadSettings(ClaimingWorkloadSettings):
    """Claims behind a queue, to which a message may come back from the dead-letter queue."""

    retention_days: int = 40
    redrives: int = 2  # times a message may go to the dead-letter queue and back within one retention
    queue: QueueSettings = field(default=QueueSettings())
    delivery: DeliverySettings = field(default=DeliverySettings())
