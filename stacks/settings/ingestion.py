"""Everything that can be set of ingestion, with its default."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from stacks.settings.queued_workload import DeliverySettings, QueuedWorkloadSettings
from stacks.settings.workflow import WorkflowFunctions, WorkflowSettings, WorkflowWorkload
from stacks.settings.workload import FunctionSettings, Semantics


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionDelivery(DeliverySettings):
    """How messages reach the starter."""

    starter_concurrency: int = 10  # records of one batch handled at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionFunctions(WorkflowFunctions):
    """The functions of ingestion, each under the name of its module."""

    starter: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))
    idempotency_guard: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))
    side_effect: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))
    record_failure: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))

    @property
    def tasks(self) -> Sequence[FunctionSettings]:
        return self.idempotency_guard, self.side_effect, self.record_failure


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionWorkflow(WorkflowSettings):
    """The numbers of `statemachines/ingestion.asl.json`."""

    timeout_seconds: int = 3600
    dead_letter_timeout_seconds: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionSettings(QueuedWorkloadSettings, WorkflowWorkload):
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
    workflow: IngestionWorkflow = field(default=IngestionWorkflow())
