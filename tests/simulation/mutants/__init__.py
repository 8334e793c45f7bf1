"""Deliberate faults in the code under test. Each has to break an invariant within a few hundred schedules."""

from dataclasses import dataclass

from tests.simulation.mutants import charges, ingestion, ledger, orders, registrations
from tests.simulation.mutants.rewriting import Mutant


@dataclass(frozen=True, slots=True)
class Hunted:
    """A fault, and the workloads whose schedules may show it, the likeliest first."""

    mutant: Mutant
    workloads: tuple[str, ...]


MUTANTS = [
    *(Hunted(mutant, ("charges", "ingestion")) for mutant in ledger.MUTANTS),
    *(Hunted(mutant, ("ingestion",)) for mutant in ingestion.MUTANTS),
    *(Hunted(mutant, ("charges",)) for mutant in charges.MUTANTS),
    *(Hunted(mutant, ("registrations",)) for mutant in registrations.MUTANTS),
    *(Hunted(mutant, ("orders",)) for mutant in orders.MUTANTS),
]
