"""The unfinished executions as the environment names them, for every reconciler."""

import wiring
from executions.handled import HandledEnds
from executions.unfinished import UnfinishedExecutions


def unfinished_executions(*, markers: str) -> UnfinishedExecutions:
    """`markers`: the table that remembers which ends were dealt with."""
    return UnfinishedExecutions(
        stepfunctions=wiring.client("stepfunctions"),
        handled=HandledEnds(wiring.client("dynamodb"), markers),
        machine=wiring.text("STATE_MACHINE_ARN"),
        machine_timeout=wiring.number("MACHINE_TIMEOUT_SECONDS"),
        settle=wiring.number("SETTLE_SECONDS"),
        clock=wiring.clock,
    )
