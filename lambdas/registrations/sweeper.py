"""Removes the claims that are past their retention, and counts the parameters that are left."""

from typing import Any

import wiring
from idempotency.adapters.ssm import Sweeper
from telemetry import count, log


class Unswept(Exception):  # noqa: N818 - says what it is about
    """Parts of a run failed; the next one tries again."""


@log.inject_lambda_context(clear_state=True)
def handler(_event: dict[str, Any], context: Any) -> dict[str, int]:
    one_call = wiring.number("SDK_CALL_SECONDS")
    sweep = Sweeper(
        wiring.client("ssm"),
        wiring.client("ssm", attempts=1),  # a delete that is sent again could remove what came meanwhile
        wiring.text("PARAMETER_PREFIX"),
        clock=wiring.clock,
        pause=wiring.pause,
        enough_time=lambda: context.get_remaining_time_in_millis() / 1000 > one_call,
        staleness=wiring.number("STALENESS_SECONDS"),
    ).run()
    count("Parameters", sweep.parameters)
    counts = {"parameters": sweep.parameters, "swept": sweep.swept, "deleted": sweep.deleted}
    log.info("swept", counts=counts, failed=sweep.failed)
    if sweep.failed:
        raise Unswept(f"{len(sweep.failed)} of them, the first: {sweep.failed[0]}")
    return counts
