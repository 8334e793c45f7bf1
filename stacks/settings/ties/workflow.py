"""What ties the settings of every workload with a workflow to each other."""

from stacks.settings.rule import above, at_most
from stacks.settings.workflow import RECONCILER_INTERVAL_SECONDS, WorkflowWorkload


def _interval(_: WorkflowWorkload) -> int:
    return RECONCILER_INTERVAL_SECONDS - 1


def _first_delay(s: WorkflowWorkload) -> int:
    return s.workflow.retry_interval_seconds


WORKFLOW_TIES = (
    at_most("functions.reconciler.timeout_seconds", _interval, "runs must not overlap"),
    above("workflow.retry_max_delay_seconds", _first_delay, "retry_interval_seconds"),
)
