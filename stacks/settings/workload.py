"""What can be set of every workload; names carry their unit."""

from dataclasses import dataclass, field
from typing import Literal

Semantics = Literal["at-most-once", "idempotent-downstream"]

DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkSettings:
    """How long one call of a function to AWS may take."""

    connect_timeout_seconds: float = 1.0
    read_timeout_seconds: float = 2.0
    attempts: int = 3  # the first one included

    @property
    def worst_call_seconds(self) -> float:
        """One call whose every attempt times out, with the SDK's longest waits between them.

        The "standard" mode waits at most 1, 2, 4, … seconds, never over 20 (botocore/retries/standard.py).
        """
        waits = sum(min(2.0**n, 20.0) for n in range(self.attempts - 1))
        return self.attempts * (self.connect_timeout_seconds + self.read_timeout_seconds) + waits


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSettings:
    """One Lambda function."""

    timeout_seconds: int
    memory_mb: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSettings:
    """Records, and the calls that make them; each workload adds what is its own."""

    semantics: Semantics
    margin_seconds: int = 60  # clock skew granted before anyone takes over
    retention_days: int
    sdk: SdkSettings = field(default=SdkSettings())

    @property
    def retention_seconds(self) -> int:
        """How long a record lives after its last write."""
        return self.retention_days * DAY_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimingWorkloadSettings(WorkloadSettings):
    """Claims in a ledger of ours."""

    namespace: str  # the use case: two of them never share a claim
    lease_seconds: int
