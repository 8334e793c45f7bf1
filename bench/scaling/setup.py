"""A workload as stage `prod` has it: the settings that decide how much it takes, and how long it needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

from bench import stage
from bench.costs import assumed, measured
from bench.costs.setting import shipped
from stacks.settings.queued_workload import QueuedWorkloadSettings
from stacks.settings.workflow import WorkflowWorkload

Workload = Literal["ingestion", "charges", "orders"]
WORKLOADS: tuple[Workload, ...] = ("ingestion", "charges", "orders")

STATES: Mapping[str, tuple[str, ...]] = {
    "ingestion": ("IdempotencyGuard", "", "SideEffect"),
    "orders": ("BeginOrder", "ChargePayment", "", "ProvisionItem", "FinishOrder"),
}
"""In order; empty: a state without a function."""
FAILURE_STATES = {"ingestion": 4, "orders": 0}
"""RecordFailure, ShouldDeadLetter, DeadLetter, DeadLettered; an order's execution just fails."""
EFFECTS = {"SideEffect": 1, "Consumer": 1, "ChargePayment": 1, "ProvisionItem": 1}
"""The functions that wait for a downstream."""
RECEIVERS = {"ingestion": "Starter", "charges": "Consumer", "orders": "AcceptOrder"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Zero where the workload has no such setting."""

    workload: Workload
    memory_mb: Mapping[str, int]
    writes: float
    """To the ledger's table, of one new event."""
    batch_size: int = 1
    record_concurrency: int = 1
    max_concurrency: int = 0
    visibility_seconds: int = 0
    max_receive_count: int = 0
    sdk_attempts: int = 1
    retry_attempts: int = 0
    retry_interval_seconds: int = 0
    retry_max_delay_seconds: int = 0
    gateway_rate: int = 0
    gateway_burst: int = 0

    @property
    def states(self) -> tuple[str, ...]:
        return STATES.get(self.workload, ())

    def seconds(self, function: str, *, effect: float, records: int = 1) -> float:
        """Of one invocation; `effect`: how much longer than assumed a downstream takes."""
        duration = _DURATIONS.duration(function)
        busy = records * duration.busy_ms * _DURATIONS.durations_at_mb / self.memory_mb[function]
        at_once = self.record_concurrency if function in ("Starter", "Consumer") else 1
        waiting = duration.waiting_ms + 1000 * effect * EFFECTS.get(function, 0)
        return (busy + ceil(records / at_once) * waiting) / 1000

    def received_per_second(self, *, effect: float = 0) -> float:
        """What the receiving function takes from its queue in full batches, if nothing holds it up."""
        seconds = self.seconds(RECEIVERS[self.workload], effect=effect, records=self.batch_size)
        return self.max_concurrency * self.batch_size / seconds


_DURATIONS = assumed.read()


def setups() -> dict[Workload, Setup]:
    prod, setting, counted = stage.settings(), shipped(), measured.read(measured.RECORDED)
    found: dict[Workload, Setup] = {}
    for workload in WORKLOADS:
        settings = getattr(prod, workload)
        more: dict[str, int] = {}
        if isinstance(settings, QueuedWorkloadSettings):
            more |= {
                "batch_size": settings.delivery.batch_size,
                "record_concurrency": setting[workload].concurrency,
                "max_concurrency": settings.delivery.max_concurrency,
                "visibility_seconds": settings.queue.visibility_timeout_seconds,
                "max_receive_count": settings.queue.max_receive_count,
            }
        if isinstance(settings, WorkflowWorkload):
            more |= {
                "retry_attempts": settings.workflow.retry_attempts,
                "retry_interval_seconds": settings.workflow.retry_interval_seconds,
                "retry_max_delay_seconds": settings.workflow.retry_max_delay_seconds,
            }
        if workload == "orders":
            more |= {
                "gateway_rate": prod.orders.api.rate_per_second,
                "gateway_burst": prod.orders.api.burst,
            }
        usage = counted.workloads[workload].deliveries["new"]
        found[workload] = Setup(
            workload=workload,
            memory_mb=setting[workload].memory_mb,
            writes=usage.called("dynamodb:UpdateItem", "dynamodb:PutItem"),
            sdk_attempts=settings.sdk.attempts,
            **more,
        )
    return found
