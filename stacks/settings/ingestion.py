"""Everything that can be set of ingestion, with its default."""

from dataclasses import dataclass, field
from typing import Literal

from stacks.settings.queued_workload import DeliverySettings, QueuedWorkloadSettings
from stacks.settings.workload import FunctionSettings, Semantics

RECONCILER_INTERVAL_SECONDS = 300
INIT_SECONDS = 10  # a cold start may take this long before a function's timeout begins to count


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionDelivery(DeliverySettings):
    """How messages reach the starter."""

    starter_concurrency: int = 10  # records of one batch handled at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionFunctions:
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
class IngestionSettings(QueuedWorkloadSettings):
    """The ingestion workload. JMESPath expressions are applied to the message's body."""

    effect_url: str
    effect_deadline_seconds: int = 20  # total, from look-up to last byte
    semantics: Semantics = "at-most-once"
    namespace: str = "ingestion"
    event_source: str = "event"  # records are keyed `<event_source>:<business key>`
    event_key: str = "eventId"  # JMESPath
    fingerprint: str = ""  # JMESPath; empty: none
    missing_key: Literal["dead-letter", "message-id"] = "dead-letter"
    on_failed_duplicate: Literal["dead-letter", "retry"] = "dead-letter"
    lease_seconds: int = 5400
    delivery: IngestionDelivery = field(default=IngestionDelivery())
    functions: IngestionFunctions = field(default=IngestionFunctions())
    workflow: WorkflowSettings = field(default=WorkflowSettings())

    @property
    def settle_seconds(self) -> int:
        """After this long no invocation made by a stopped task or execution still runs."""
        return INIT_SECONDS + self.functions.longest_task_seconds + self.margin_seconds

    def task_timeout_seconds(self, function: FunctionSettings) -> int:
        """How long the workflow waits for `function`: longer than Lambda lets it run."""
        return function.timeout_seconds + self.workflow.task_headroom_seconds
