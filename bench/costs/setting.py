"""What a bill depends on beside counts: the settings as they are shipped, and how much of what comes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from bench import stage

EVENTS_A_DAY = 2_000_000
REGISTRATIONS_A_RUN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """`batch`: messages that an invocation really gets; `duplicates` and `renewals` are per event."""

    memory_mb: Mapping[str, int]
    """By function."""
    batch: int = 1
    concurrency: int = 1
    duplicates: float = 0
    renewals: float = 0
    body_bytes: float = 1024
    retention_days: float = 0
    max_concurrency: bool = True
    """Whether the event source mapping has one."""
    events_a_day: float = EVENTS_A_DAY
    items: int = 1
    polls: float = 1
    workflow_log_level: str = "ALL"
    api: Literal["rest", "http"] = "rest"

    def with_memory(self, megabytes: int) -> "Setting":
        """In all functions."""
        return replace(self, memory_mb=dict.fromkeys(self.memory_mb, megabytes))


def shipped() -> dict[str, Setting]:
    """By workload, as cdk.json and the defaults of `stacks/settings` have them. Batches are full."""
    prod = stage.settings()
    ingestion, charges, registrations, orders = (
        prod.ingestion,
        prod.charges,
        prod.registrations,
        prod.orders,
    )
    return {
        "ingestion": Setting(
            memory_mb=_memory(ingestion.functions),
            batch=ingestion.delivery.batch_size,
            concurrency=ingestion.delivery.starter_concurrency,
            retention_days=ingestion.retention_days,
            workflow_log_level=ingestion.workflow.log_level,
        ),
        "charges": Setting(
            memory_mb=_memory(charges.functions),
            batch=charges.delivery.batch_size,
            concurrency=charges.delivery.concurrency,
            retention_days=charges.retention_days,
        ),
        "registrations": Setting(
            memory_mb=_memory(registrations.functions),
            batch=REGISTRATIONS_A_RUN,
            concurrency=registrations.concurrency,
            retention_days=registrations.retention_days,
        ),
        "orders": Setting(
            memory_mb=_memory(orders.functions),
            retention_days=orders.retention_days,
            workflow_log_level=orders.workflow.log_level,
        ),
    }


def _memory(functions: Any) -> dict[str, int]:
    """Function `side_effect` of the settings is the construct `SideEffect`."""
    return {name.title().replace("_", ""): each["memory_mb"] for name, each in asdict(functions).items()}
