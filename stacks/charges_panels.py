"""What the dashboard shows of charges."""

from aws_cdk import aws_sqs as sqs

from stacks.metrics import counted, counted_over
from stacks.panels import Panels, arrivals, dead_letters, oldest, unhandled


def charges_panels(*, queue: sqs.IQueue, dead_letter_queue: sqs.IQueue) -> Panels:
    """A duplicate takes a refused write, and no more."""
    return Panels(
        flowing=(*arrivals(queue), counted_over("charges", "Done", "Status", label="done")),
        stuck=(
            *unhandled(queue),
            dead_letters(dead_letter_queue),
            counted("charges", "DeadLettered", Reason="in-doubt", label="in doubt"),
            counted("charges", "LostClaims", label="lost claims"),
        ),
        waiting=(oldest(queue),),
        duplicates=(counted("charges", "Duplicates", State="done", label="done: writes paid for them"),),
    )
