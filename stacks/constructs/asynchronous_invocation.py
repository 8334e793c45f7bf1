"""What becomes of the invocations that Lambda takes over from a schedule or a rule."""

from dataclasses import dataclass

import jsii
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_lambda import DestinationConfig, DestinationType, IDestination, IFunction
from constructs import Construct

# Lambda: PutFunctionEventInvokeConfig. It is also how long Lambda goes on trying where nothing is said.
LONGEST_SECONDS = 6 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class AsynchronousInvocation:
    """One that failed is tried again `retry_attempts` times, then sent to the queue `failures`, if any."""

    max_event_age_seconds: int
    retry_attempts: int
    failures: sqs.IQueue | None = None


def left_to_the_next_run(interval_seconds: int) -> AsynchronousInvocation:
    """Of a function whose next run makes up for one that failed."""
    return AsynchronousInvocation(
        max_event_age_seconds=min(interval_seconds, LONGEST_SECONDS), retry_attempts=0
    )


@jsii.implements(IDestination)
class QueueWithoutGrant:
    """CDK's own destination would add rights on the queue that sending does not need; the stack grants it."""

    def __init__(self, queue: sqs.IQueue) -> None:
        self._queue = queue

    def bind(self, scope: Construct, fn: IFunction, *, type: DestinationType) -> DestinationConfig:  # noqa: A002, ARG002  CDK's signature
        return DestinationConfig(destination=self._queue.queue_arn)
