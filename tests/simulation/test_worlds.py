"""Five thousand schedules and more: in none does an invariant break. `make simulate` runs many more."""

import pytest

from tests.simulation import runs
from tests.simulation.runs import Findings
from tests.simulation.worlds import WORKLOADS

SCHEDULES = 1_300  # of each workload


@pytest.mark.parametrize("workload", WORKLOADS)
def test_no_schedule_breaks_an_invariant(workload: str) -> None:
    found = Findings()
    for part in runs.simulate_all(workload, range(SCHEDULES)):
        found.add(part)
    if found.violation:
        seed, trace = found.violation
        pytest.fail(f"make simulate WORKLOAD={workload} SEED={seed} shows this again: {trace}", pytrace=False)
    missed = [event for event in WORKLOADS[workload].events if not found.seen[event]]
    assert not missed, "the schedules do not come across what they are meant to"


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_schedule_replays_to_the_letter(workload: str) -> None:
    made = WORKLOADS[workload].made
    worlds = [made(11) for _ in range(2)]
    for world in worlds:
        world.run()
    assert worlds[0].scheduler.trace == worlds[1].scheduler.trace != made(12).scheduler.trace
