"""What the dashboard shows of orders."""

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_stepfunctions as sfn

from stacks.metrics import counted
from stacks.panels import Panels, broken, running, started


def orders_panels(*, machine: sfn.IStateMachine, server_errors: cloudwatch.Metric) -> Panels:
    """A retry takes a request, a function and a refused write; it never reaches the workflow."""
    return Panels(
        flowing=(
            counted("orders", "Accepted", label="accepted"),
            started(machine),
            counted("orders", "Succeeded", label="succeeded"),
        ),
        stuck=(
            running(machine),
            *broken(machine),
            counted("orders", "LostClaims", label="lost claims"),
            server_errors.with_(label="answers of 500 and above"),
        ),
        duplicates=(
            counted("orders", "Replays", label="replays: the first answer again"),
            counted("orders", "Conflicts", label="conflicts: another body, 409"),
        ),
    )
