"""What the dashboard shows of ingestion."""

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn

from stacks.metrics import counted, counted_by
from stacks.panels import PERIOD, Panels, arrivals, broken, dead_letters, oldest, running, started, unhandled

STATES_OF_A_DUPLICATE = 3  # IdempotencyGuard, ShouldProceed, SkipDuplicate


def ingestion_panels(
    *, queue: sqs.IQueue, dead_letter_queue: sqs.IQueue, machine: sfn.IStateMachine
) -> Panels:
    """A duplicate takes a start, a write and three states, as a new event's guard does."""
    return Panels(
        flowing=(
            *arrivals(queue),
            started(machine),
            counted("ingestion", "Claims", label="claimed"),
            counted("ingestion", "Done", label="done"),
        ),
        stuck=(
            *unhandled(queue),
            dead_letters(dead_letter_queue),
            counted("ingestion", "DeadLettered", Reason="in-doubt", label="in doubt"),
            counted("ingestion", "LostClaims", label="lost claims"),
            running(machine),
            *broken(machine),
        ),
        waiting=(oldest(queue),),
        duplicates=(counted_by("ingestion", "Duplicates", "State"),),
        spent=(_states(),),
    )


def _states() -> cloudwatch.IMetric:
    """Those of duplicates that were skipped; the others end as dead letters, on which nobody saves."""
    return cloudwatch.MathExpression(
        expression=f"{STATES_OF_A_DUPLICATE} * (FILL(done, 0) + FILL(busy, 0))",
        using_metrics={
            "done": counted("ingestion", "Duplicates", State="done"),
            "busy": counted("ingestion", "Duplicates", State="in-progress"),
        },
        label="states paid for skipped ones",
        period=PERIOD,
    )
