"""Every mutant breaks an invariant, in the schedule that is on record for it or in another one."""

import pytest

from tests.simulation import documented, runs
from tests.simulation.mutants import MUTANTS


def test_every_mutant_is_caught() -> None:
    survivors = [
        f"{caught.mutant} ({caught.workload})"
        for caught in runs.in_parallel(runs.hunt, [(number, True) for number in range(len(MUTANTS))])
        if caught.invariant is None
    ]
    if survivors:
        pytest.fail("an invariant is missing: " + ", ".join(survivors), pytrace=False)


def test_the_documentation_names_every_mutant() -> None:
    told = documented.PROOF.read_text(encoding="utf-8")
    left_out = [name for each in MUTANTS if (name := documented.in_words(each.mutant.__name__)) not in told]
    assert not left_out, "python -m tests.simulation --document"
