"""The work queue and its dead-letter queue, as far as the consumer uses them."""

from dataclasses import dataclass, field

from tests.unit.aws import Queue

URL = "https://queues.invalid/charges"
DLQ_URL = "https://queues.invalid/charges-dlq"


@dataclass(kw_only=True)
class WorkQueue(Queue):
    """ChangeMessageVisibility takes whole seconds from 0 to 43,200."""

    hidden: list[tuple[str, int]] = field(default_factory=list)  # receipt handle, seconds
    visibility_failures: list[Exception] = field(default_factory=list)

    def change_message_visibility(self, *, QueueUrl: str, ReceiptHandle: str, VisibilityTimeout: int) -> None:  # noqa: N803
        if self.visibility_failures:
            raise self.visibility_failures.pop(0)
        assert QueueUrl == URL
        assert type(VisibilityTimeout) is int
        assert 0 <= VisibilityTimeout <= 43_200
        self.hidden.append((ReceiptHandle, VisibilityTimeout))

    @property
    def seconds(self) -> int:
        """For which the only message that was hidden is so."""
        ((_, seconds),) = self.hidden
        return seconds
