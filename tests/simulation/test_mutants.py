"""Every mutant breaks an invariant within the schedules that are run anyway."""

import pytest

from tests.simulation import runs
from tests.simulation.mutants import MUTANTS


def test_every_mutant_is_caught() -> None:
    survivors = [
        f"{caught.mutant} ({caught.workload})"
        for caught in runs.in_parallel(runs.hunt, [(number,) for number in range(len(MUTANTS))])
        if caught.invariant is None
    ]
    if survivors:
        pytest.fail("an invariant is missing: " + ", ".join(survivors), pytrace=False)
