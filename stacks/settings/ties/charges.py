"""What ties the settings of charges to each other."""

from math import ceil

from stacks.settings.charges import RECORD_CALLS, ChargesSettings
from stacks.settings.rule import above, at_least
from stacks.settings.ties.queued_workload import QUEUED_TIES, VISIBILITY, visibility


def _consumer_visibility(s: ChargesSettings) -> int:
    return visibility(s.functions.consumer, s.delivery)


def _charges(s: ChargesSettings) -> int:
    return s.record_seconds * ceil(s.delivery.batch_size / s.delivery.concurrency)


def _abandoned_invocation(s: ChargesSettings) -> int:
    return s.functions.consumer.timeout_seconds + s.margin_seconds


CHARGES_TIES = (
    *QUEUED_TIES,
    at_least(VISIBILITY, _consumer_visibility, "6 times the consumer's timeout + batch window"),
    above(
        "functions.consumer.timeout_seconds",
        _charges,
        f"{RECORD_CALLS} calls + both deadlines per record, batch / concurrency in a row",
    ),
    above("lease_seconds", _abandoned_invocation, "the consumer's timeout + margin"),
)
