"""Deliberate faults in how a batch of messages is handled, for ingestion and charges alike."""

import pytest

from queues import batch
from tests.simulation.mutants.rewriting import rewritten


def a_message_whose_handling_failed_is_swallowed(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, batch, "process_batch", "        return False", "        return True")
