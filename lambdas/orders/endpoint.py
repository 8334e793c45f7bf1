"""What every endpoint does around its own work: a problem becomes an answer, an outage a 503."""

from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from orders.problem import Kind, Problem
from orders.response import Response
from telemetry import count, log

RETRY_AFTER_SECONDS = 2


def answered(work: Callable[[], Response]) -> dict[str, Any]:
    """What AWS did not do, or did without our hearing of it, a retry with the same key finds or makes up."""
    try:
        return work().proxied()
    except Problem as problem:
        log.info("refused", type=problem.kind.type)
        return problem.response().proxied()
    except (BotoCoreError, ClientError) as error:
        count("Unavailable", Error=type(error).__name__)
        log.exception("AWS did not answer")
        return _unavailable().response().proxied()


def _unavailable() -> Problem:
    return Problem(
        Kind.UNAVAILABLE,
        "Nothing is lost: send the same request again.",
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )
