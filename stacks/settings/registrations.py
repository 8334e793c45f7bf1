"""Everything that can be set of registrations, with its default."""

from dataclasses import dataclass, field
from math import ceil

from stacks.settings.workload import ClaimingWorkloadSettings, FunctionSettings, Semantics

# Calls to AWS at most for one registration: two pages of its steps, a step of ours, a look at the one that
# was there first; complete; then two pages again, a dead letter and the step that reports it.
RECORD_CALLS = 9
# A step that is refused and then not found is tried again for longer than the 30 s that a name must rest.
LEDGER_PATIENCE_SECONDS = 45


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationsFunctions:
    """The functions of registrations, each under the name of its module."""

    processor: FunctionSettings = field(default=FunctionSettings(timeout_seconds=600, memory_mb=512))
    sweeper: FunctionSettings = field(default=FunctionSettings(timeout_seconds=600))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationsSettings(ClaimingWorkloadSettings):
    """The registrations workload. Deadlines are total, from look-up to last byte."""

    registry_url: str
    registry_deadline_seconds: int = 20
    notification_url: str
    notification_deadline_seconds: int = 10
    semantics: Semantics = "idempotent-downstream"  # the registry knows an expiry by its id and date
    namespace: str = "registrations"
    lease_seconds: int = 900
    retention_days: int = 31
    lookback_days: int = 30  # older effective dates are left alone: their records may be swept
    event_source: str = "registrations"  # of single events on the account's default bus
    source_key: str = "registrations.json"  # of the document in the stack's bucket
    interval_minutes: int = 60
    sweep_interval_minutes: int = 60
    staleness_seconds: int = 3600  # how old the answer of a listing may be
    parameter_share: int = 5000  # alarms when we hold this many of the account's 10,000 parameters
    concurrency: int = 4  # registrations handled at a time
    functions: RegistrationsFunctions = field(default=RegistrationsFunctions())

    @property
    def interval_seconds(self) -> int:
        """From one run of the processor to the next."""
        return 60 * self.interval_minutes

    @property
    def sweep_interval_seconds(self) -> int:
        """From one run of the sweeper to the next."""
        return 60 * self.sweep_interval_minutes

    @property
    def record_seconds(self) -> int:
        """How long one registration can take: none is begun with less time left than this."""
        deadlines = self.registry_deadline_seconds + self.notification_deadline_seconds
        return ceil(RECORD_CALLS * self.sdk.worst_call_seconds) + LEDGER_PATIENCE_SECONDS + deadlines
