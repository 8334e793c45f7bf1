"""Everything that can be set of charges, with its default."""

from dataclasses import dataclass, field
from math import ceil

from stacks.settings.queued_workload import DeliverySettings, QueuedWorkloadSettings, QueueSettings
from stacks.settings.workload import FunctionSettings, Semantics

# Calls to AWS at most for one record: claim, doubt, claim again where the doubt finds the claim gone;
# complete, doubt where that did not answer; then a dead letter or a change of visibility.
RECORD_CALLS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargesDelivery(DeliverySettings):
    """How messages reach the consumer."""

    concurrency: int = 10  # records of one batch handled at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargesFunctions:
    """The functions of charges, each under the name of its module."""

    consumer: FunctionSettings = field(default=FunctionSettings(timeout_seconds=120, memory_mb=512))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargesSettings(QueuedWorkloadSettings):
    """The charges workload. Deadlines are total, from look-up to last byte."""

    core_banking_url: str
    core_banking_deadline_seconds: int = 20
    notification_url: str
    notification_deadline_seconds: int = 10
    semantics: Semantics = "idempotent-downstream"  # core banking knows a charge by its id
    namespace: str = "charges"
    lease_seconds: int = 240
    queue: QueueSettings = field(default=QueueSettings(visibility_timeout_seconds=720))
    delivery: ChargesDelivery = field(default=ChargesDelivery())
    functions: ChargesFunctions = field(default=ChargesFunctions())

    @property
    def record_seconds(self) -> int:
        """How long one record can take: no record is begun with less time left than this."""
        deadlines = self.core_banking_deadline_seconds + self.notification_deadline_seconds
        return ceil(RECORD_CALLS * self.sdk.worst_call_seconds) + deadlines
