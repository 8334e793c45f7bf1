"""Deliberate faults in how executions that broke off are dealt with, for ingestion and orders alike."""

import pytest

from executions.unfinished import UnfinishedExecutions
from tests.simulation.mutants.rewriting import rewritten


def an_end_is_marked_before_it_is_dealt_with(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        UnfinishedExecutions,
        "_reconcile",
        "    deal_with(execution)\n    self.handled.add(end, now=self.clock())",
        "    self.handled.add(end, now=self.clock())\n    deal_with(execution)",
    )


def an_end_is_dealt_with_before_it_has_settled(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(UnfinishedExecutions, "_settled", lambda *_: True)
