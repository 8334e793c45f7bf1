"""The reconciler is run until it has dealt with every end, however often it fails; but not for ever."""

from typing import Any

from sandbox.chaos.reconciling import reconcile
from sandbox.demo.workflow_deployment import WorkflowDeployment


class Deployed(WorkflowDeployment):
    """Its reconciler answers these counts, one run after the other; None is a run that fails."""

    def __init__(self, *handled: int | None) -> None:
        self.handled = list(handled)

    def reconcile(self) -> dict[str, Any]:
        count = self.handled.pop(0) if self.handled else None
        if count is None:
            raise RuntimeError("Reconciler failed")
        return {"handled": count}


def test_it_goes_on_until_a_run_finds_nothing_left() -> None:
    deployed = Deployed(None, 3, None, 1, 0, 7)

    assert reconcile(deployed) == []
    assert deployed.handled == [7]


def test_a_reconciler_that_never_comes_to_an_end_is_a_problem() -> None:
    (problem,) = reconcile(Deployed())
    assert problem.startswith("not reconciled within")
