"""Runs of a reconciler that fail until all faults of its calls are used up, and then deal with every end."""

from sandbox.demo.workflow_deployment import WorkflowDeployment

_WITHIN_RUNS = 40


def reconcile(deployment: WorkflowDeployment) -> list[str]:
    """What was wrong with it."""
    for _ in range(_WITHIN_RUNS):
        try:
            if not deployment.reconcile()["handled"]:
                return []
        except RuntimeError:
            continue  # a run that failed; the next one tries again
    return [f"not reconciled within {_WITHIN_RUNS} runs"]
