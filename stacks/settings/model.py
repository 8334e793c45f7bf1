"""Everything that can be set, with its default; names carry their unit."""

from dataclasses import dataclass, field
from typing import Literal

Semantics = Literal["at-most-once", "idempotent-downstream"]

DAY_SECONDS = 86_400
RECONCILER_INTERVAL_SECONDS = 300
INIT_SECONDS = 10  # a cold start may take this long before a function's timeout begins to count


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
class QueueSettings:
    """The work queue and its dead-letter queue."""

    visibility_timeout_seconds: int = 360
    retention_days: int = 4
    dead_letter_retention_days: int = 14
    max_receive_count: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySettings:
    """How messages reach the starter."""

    batch_size: int = 10
    batch_window_seconds: int = 0
    max_concurrency: int = 10  # invocations of the starter at a time
    starter_concurrency: int = 10  # records of one batch handled at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSettings:
    """One Lambda function."""

    timeout_seconds: int
    memory_mb: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionsSettings:
    """The functions of ingestion, each under the name of its module."""

    starter: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))
    idempotency_guard: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))
    side_effect: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))
    record_failure: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))
    reconciler: FunctionSettings = field(default=FunctionSettings(timeout_seconds=240))

    @property
    def longest_task_seconds(self) -> int:
        """The longest timeout of those that the workflow calls."""
        tasks = (self.idempotency_guard, self.side_effect, self.record_failure)
        return max(task.timeout_seconds for task in tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSettings:
    """The numbers of `statemachines/ingestion.asl.json`."""

    timeout_seconds: int = 3600
    task_headroom_seconds: int = 5  # a task waits this much longer than its function may run
    dead_letter_timeout_seconds: int = 20
    retry_interval_seconds: int = 2
    retry_attempts: int = 6
    retry_max_delay_seconds: int = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionSettings:
    """The ingestion workload. JMESPath expressions are applied to the message's body."""

    effect_url: str
    effect_deadline_seconds: int = 20  # total, from look-up to last byte
    semantics: Semantics = "at-most-once"
    namespace: str = "ingestion"  # the use case: two of them never share a claim
    event_source: str = "event"  # records are keyed `<event_source>:<business key>`
    event_key: str = "eventId"  # JMESPath
    fingerprint: str = ""  # JMESPath; empty: none
    missing_key: Literal["dead-letter", "message-id"] = "dead-letter"
    on_failed_duplicate: Literal["dead-letter", "retry"] = "dead-letter"
    lease_seconds: int = 5400
    margin_seconds: int = 60  # clock skew granted before anyone takes over
    retention_days: int = 40
    redrives: int = 2  # times an event may go to the dead-letter queue and back within one retention
    sdk: SdkSettings = field(default=SdkSettings())
    queue: QueueSettings = field(default=QueueSettings())
    delivery: DeliverySettings = field(default=DeliverySettings())
    functions: FunctionsSettings = field(default=FunctionsSettings())
    workflow: WorkflowSettings = field(default=WorkflowSettings())

    @property
    def retention_seconds(self) -> int:
        """How long a record lives after its last write."""
        return self.retention_days * DAY_SECONDS

    @property
    def settle_seconds(self) -> int:
        """After this long no invocation made by a stopped task or execution still runs."""
        return INIT_SECONDS + self.functions.longest_task_seconds + self.margin_seconds

    def task_timeout_seconds(self, function: FunctionSettings) -> int:
        """How long the workflow waits for `function`: longer than Lambda lets it run."""
        return function.timeout_seconds + self.workflow.task_headroom_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSettings:
    """One stage of the application, and each workload in it."""

    stage: str
    deletion_protection: bool = False
    removal: Literal["destroy", "retain"] = "destroy"  # of what holds data, when the stack is deleted
    log_retention_days: int = 30
    bootstrapless: bool = False  # deploy with the caller's own credentials: the sandbox
    ingestion: IngestionSettings
