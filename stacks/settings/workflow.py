"""What can be set of every workload whose events are handled by a state machine."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from stacks.settings.workload import FunctionSettings, WorkloadSettings

RECONCILER_INTERVAL_SECONDS = 300
INIT_SECONDS = 10  # a cold start may take this long before a function's timeout begins to count


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSettings:
    """The numbers of a definition in `statemachines`, and how much of its executions is logged."""

    timeout_seconds: int
    task_headroom_seconds: int = 5  # a task waits this much longer than its function may run
    retry_interval_seconds: int = 2
    retry_attempts: int = 6
    retry_max_delay_seconds: int = 60
    log_level: Literal["ALL", "ERROR", "FATAL", "OFF"] = "ERROR"  # a history of each there is anyway, 90 d


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowFunctions(ABC):
    """The functions around a workflow; each workload adds those that its workflow calls."""

    reconciler: FunctionSettings = field(default=FunctionSettings(timeout_seconds=240))

    @property
    @abstractmethod
    def tasks(self) -> Sequence[FunctionSettings]:
        """Those that the workflow calls."""


class WorkflowWorkload(WorkloadSettings):
    """Durations that the definition, the functions and the rules share.

    The fields are each workload's own: so a workload can have a queue besides.
    """

    __slots__ = ()

    workflow: WorkflowSettings
    functions: WorkflowFunctions

    @property
    def longest_task_seconds(self) -> int:
        """The longest timeout of the functions that the workflow calls."""
        return max(task.timeout_seconds for task in self.functions.tasks)

    @property
    def settle_seconds(self) -> int:
        """After this long no invocation made by a stopped task or execution still runs."""
        return INIT_SECONDS + self.longest_task_seconds + self.margin_seconds

    def task_timeout_seconds(self, function: FunctionSettings) -> int:
        """How long the workflow waits for `function`: longer than Lambda lets it run."""
        return function.timeout_seconds + self.workflow.task_headroom_seconds
