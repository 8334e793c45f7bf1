"""What a seed chooses of ingestion, and the settings and the definition that come of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from idempotency.model import Semantics
from stacks.settings import IngestionSettings
from stacks.settings.ingestion import IngestionFunctions, IngestionWorkflow
from stacks.settings.workload import FunctionSettings
from tests.simulation.queued import QueuedSetting
from tests.simulation.scheduler import Scheduler
from tests.statemachines.definition import resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(QueuedSetting):
    """`stopped`: a share of all executions. `reconciled_every` in seconds."""

    fingerprinted: bool
    events: int
    stopped: float
    reconciled_every: int

    @classmethod
    def of(cls, scheduler: Scheduler) -> "Setting":
        one_of: Callable[[tuple[Any, ...]], Any] = scheduler.chance.choice
        return cls(
            semantics=one_of(tuple(Semantics)),
            retry_failed=one_of((False, False, True)),
            fingerprinted=one_of((False, True)),
            events=one_of((1, 1, 2, 3)),
            timeout=20,
            margin=10,
            rejected=one_of((0.05, 0.05, 0.4)),
            skew=one_of((0, 4, 4, 4, 4, 90)),
            lease=1_000,
            retention=one_of((100_000, 100_000, 1_200)),
            horizon=one_of((300, 1_500, 4_000)),
            batch_size=one_of((1, 3, 10)),
            stopped=one_of((0, 0.1, 0.4)),
            reconciled_every=one_of((60, 300)),
        )


@cache
def settings(semantics: Semantics, *, timeout: int, margin: int, lease: int) -> IngestionSettings:
    """Short, so that a run comes to the ends of leases; the rules that synth checks hold of them."""
    function = FunctionSettings(timeout_seconds=timeout)
    return IngestionSettings(
        effect_url="-",
        semantics=semantics.value,
        margin_seconds=margin,
        lease_seconds=lease,
        functions=IngestionFunctions(
            starter=function, idempotency_guard=function, side_effect=function, record_failure=function
        ),
        workflow=IngestionWorkflow(
            timeout_seconds=900,
            retry_attempts=2,
            retry_max_delay_seconds=10,
            dead_letter_timeout_seconds=20,
        ),
    )


@cache
def definition(of: IngestionSettings) -> dict[str, Any]:
    return resolved(of, dead_letter_queue="dead-letters")
