"""What the dashboard shows of one workload, by the question that it answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn

from stacks.metrics import WATCHED_SECONDS

PERIOD = Duration.seconds(WATCHED_SECONDS)

Lines = Sequence[cloudwatch.IMetric]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panels:
    """Lines in numbers of events, except where it says otherwise; a panel without lines is left out."""

    flowing: Lines = ()
    stuck: Lines = ()
    waiting: Lines = ()  # seconds, in the panel of what is stuck
    duplicates: Lines = ()
    spent: Lines = ()  # what the duplicates took, in the same panel


def arrivals(queue: sqs.IQueue) -> Lines:
    """A message counts once as sent, and each time that it is received."""
    return (
        queue.metric_number_of_messages_sent(period=PERIOD, label="sent"),
        queue.metric_number_of_messages_received(period=PERIOD, label="received"),
    )


def unhandled(queue: sqs.IQueue) -> Lines:
    """Waiting, and being handled or hidden until the next try."""
    return (
        queue.metric_approximate_number_of_messages_visible(
            period=PERIOD, statistic="Maximum", label="waiting"
        ),
        queue.metric_approximate_number_of_messages_not_visible(
            period=PERIOD, statistic="Maximum", label="in flight"
        ),
    )


def dead_letters(queue: sqs.IQueue) -> cloudwatch.IMetric:
    return queue.metric_approximate_number_of_messages_visible(
        period=PERIOD, statistic="Maximum", label="dead letters"
    )


def oldest(queue: sqs.IQueue) -> cloudwatch.IMetric:
    return queue.metric_approximate_age_of_oldest_message(
        period=PERIOD, statistic="Maximum", label="oldest message, seconds"
    )


def started(machine: sfn.IStateMachine) -> cloudwatch.IMetric:
    return machine.metric_started(period=PERIOD, label="executions started")


def running(machine: sfn.IStateMachine) -> cloudwatch.IMetric:
    """Step Functions has no such metric of one machine: what started in view and has not ended."""
    ended = {"succeeded": machine.metric_succeeded(period=PERIOD), **_broken(machine)}
    return cloudwatch.MathExpression(
        expression=f"RUNNING_SUM({' - '.join(f'FILL({name}, 0)' for name in ('begun', *ended))})",
        using_metrics={"begun": machine.metric_started(period=PERIOD), **ended},
        label="more begun than ended, from the left edge on",
        period=PERIOD,
    )


def broken(machine: sfn.IStateMachine) -> Lines:
    return tuple(_broken(machine).values())


def _broken(machine: sfn.IStateMachine) -> dict[str, cloudwatch.IMetric]:
    return {
        "failed": machine.metric_failed(period=PERIOD, label="failed"),
        "late": machine.metric_timed_out(period=PERIOD, label="timed out"),
        "stopped": machine.metric_aborted(period=PERIOD, label="stopped by hand"),
    }
