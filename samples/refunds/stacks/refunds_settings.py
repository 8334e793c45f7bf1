"""Everything that can be set of refunds, with its default, and what ties it together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil

from stacks.settings import FunctionSettings, QueuedWorkloadSettings, QueueSettings, Semantics
from stacks.settings.reading import read
from stacks.settings.rule import above, accepted, at_least, refuse_broken, within
from stacks.settings.texts import is_downstream_url
from stacks.settings.ties.queued_workload import QUEUED_TIES, VISIBILITY, visibility

# Calls to AWS at most for one record: claim, doubt, claim again; complete or give back; a dead letter.
RECORD_CALLS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundsSettings(QueuedWorkloadSettings):
    """Records of one batch are handled side by side, so one record's time is a batch's."""

    payment_url: str
    payment_deadline_seconds: int = 20
    semantics: Semantics = "idempotent-downstream"
    namespace: str = "refunds"
    lease_seconds: int = 240
    queue: QueueSettings = field(default=QueueSettings(visibility_timeout_seconds=720))
    consumer: FunctionSettings = field(default=FunctionSettings(timeout_seconds=120))

    @property
    def record_seconds(self) -> int:
        return ceil(RECORD_CALLS * self.sdk.worst_call_seconds) + self.payment_deadline_seconds


RULES = (
    accepted("payment_url", is_downstream_url, "an https:// address"),
    within("delivery.batch_size", 1, 50),  # a thread each
    *QUEUED_TIES,
    above("consumer.timeout_seconds", lambda s: s.record_seconds, "calls and deadline of a record"),
    above("lease_seconds", lambda s: s.consumer.timeout_seconds + s.margin_seconds, "timeout + margin"),
    at_least(VISIBILITY, lambda s: visibility(s.consumer, s.delivery), "6 times the timeout + batch window"),
    # A duplicate that finds a claim in progress comes back to one that is over: a receive a lease.
    above(VISIBILITY, lambda s: s.lease_seconds + s.margin_seconds, "lease + margin"),
)


def read_refunds(context: object, *, stage: str) -> RefundsSettings:
    """From `refunds.<stage>` in the context of cdk.json. Raises a `Refusal` of one line."""
    at = f"refunds.{stage}"
    settings = read(RefundsSettings, context.get(stage) if isinstance(context, Mapping) else None, at=at)
    refuse_broken(RULES, settings, at=at)
    return settings
