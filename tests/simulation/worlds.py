"""The workloads that are simulated, and what their schedules have to come across to mean anything."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tests.simulation.charges import Charges
from tests.simulation.ingestion import Ingestion
from tests.simulation.orders.world import Orders
from tests.simulation.registrations import Registrations
from tests.simulation.scheduler import Scheduler


class World(Protocol):
    """One run, decided by its seed."""

    scheduler: Scheduler

    @property
    def seen(self) -> Counter[str]:
        """What has happened, by kind."""

    def run(self) -> None:
        """Raises Violation where an invariant does not hold."""


@dataclass(frozen=True, slots=True)
class Workload:
    made: Callable[[int], World]  # from a seed
    events: tuple[str, ...]


_KEYS = ("claim", "takeover", "after a release", "new life", "second effect", "effect of a late worker")
_STATES = ("DONE", "FAILED", "IN_DOUBT", "RELEASED")

WORKLOADS = {
    "ingestion": Workload(
        Ingestion.of,
        (
            *_KEYS,
            *_STATES,
            "execution redriven",
            "execution stopped",
            "reconciled",
            *(
                f"dead-lettered {reason}"
                for reason in (
                    *("invalid-json", "no-key", "rejected", "not-applied", "guard-failed", "in-doubt"),
                    *("failed", "mismatch", "still-in-progress", "unfinished"),
                )
            ),
        ),
    ),
    "charges": Workload(Charges.of, (*_KEYS, *_STATES)),
    "registrations": Workload(
        Registrations.of,
        (
            *(
                "takeover",
                "effect of a late worker",
                "second effect",
                "reported",
                "new life",
                "after a sweep",
            ),
            *("swept", "numbers deleted", "cleared", "key removed"),
        ),
    ),
    "orders": Workload(
        Orders,
        (
            "accepted",
            "replay",
            "healed start",
            "left unstarted",
            "new life of a key",
            "answer 409",
            "answer 422",
            "answer 503",
            "superseded",
            "execution FAILED",
            "execution TIMED_OUT",
            "execution ABORTED",
            "redrive",
            "succeeded after it was told as failed",
            "a failed order's task is done",
            "a failed order's task is not done",
            "a failed order's task is unknown",
            "takeover of a task",
            "turned away while another is at work",
            "completion refused",
            "deletion refused",
            "completed where there was no record",
            "effect repeated under its key",
        ),
    ),
}
