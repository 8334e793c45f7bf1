"""What the dashboard shows of registrations."""

from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from stacks.metrics import counted
from stacks.panels import PERIOD, Panels, dead_letters

_SKIPPED = ("skipped-completed", "skipped-in-flight")


def registrations_panels(*, processor: lambda_.IFunction, dead_letter_queue: sqs.IQueue) -> Panels:
    """A duplicate is whatever a run finds listed and dealt with: it takes the listing of its key."""
    return Panels(
        flowing=(
            processor.metric_invocations(period=PERIOD, label="runs and single events"),
            counted("registrations", "Registrations", Outcome="executed", label="done"),
        ),
        stuck=(
            dead_letters(dead_letter_queue),
            counted("registrations", "DeadLettered", Reason="in-doubt", label="in doubt"),
            counted("registrations", "LostClaims", label="lost claims"),
            counted("registrations", "Unfinished", label="left to the next run"),
            counted("registrations", "InvalidRegistrations", label="not registrations"),
        ),
        duplicates=tuple(
            counted("registrations", "Registrations", Outcome=outcome, label=outcome) for outcome in _SKIPPED
        ),
        spent=(
            counted("registrations", "Parameters", statistic="Maximum", label="parameters held, of 10,000"),
        ),
    )
