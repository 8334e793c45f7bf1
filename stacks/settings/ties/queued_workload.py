"""What ties the settings of every workload on a queue to each other."""

from stacks.settings.queued_workload import DeliverySettings, QueuedWorkloadSettings
from stacks.settings.rule import at_least
from stacks.settings.workload import FunctionSettings

VISIBILITY = "queue.visibility_timeout_seconds"


def visibility(receiver: FunctionSettings, delivery: DeliverySettings) -> int:
    """How long a message must stay hidden while `receiver` has it."""
    return 6 * receiver.timeout_seconds + delivery.batch_window_seconds


def _window(s: QueuedWorkloadSettings) -> int:
    return 1 if s.delivery.batch_size > 10 else 0


def _ways_back(s: QueuedWorkloadSettings) -> int:
    queue = s.queue
    return queue.retention_days + s.redrives * (queue.dead_letter_retention_days + queue.retention_days)


QUEUED_TIES = (
    at_least("delivery.batch_window_seconds", _window, "Lambda waits for batches over 10"),
    at_least("retention_days", _ways_back, "source retention + redrives * (DLQ + source retention)"),
)
