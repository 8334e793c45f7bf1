"""What the demo plants is what a sweep finds, and a sweep that did too much or too little is seen."""

import pytest

from idempotency.adapters.ssm import Sweeper
from sandbox.demo import registrations_sweep
from sandbox.demo.registrations_steps import Steps, by_key
from sandbox.demo.registrations_sweep import FRESH, IN_DOUBT, LIVE, Gardener, problems, wrong
from tests.ssm.parameter_store import StrictParameterStore

PREFIX = "/idempotency/demo"
NOW = 1_800_000_000
STALENESS = 207  # of the sandbox


@pytest.fixture
def store() -> StrictParameterStore:
    store = StrictParameterStore(lambda: NOW)
    Gardener(store, PREFIX, now=NOW).plant()
    return store


def sweep(store: StrictParameterStore) -> dict[str, int]:
    sweeper = Sweeper(
        store,
        store,
        PREFIX,
        clock=lambda: NOW,
        pause=lambda _: None,
        enough_time=lambda: True,
        staleness=STALENESS,
    )
    did = sweeper.run()
    assert did.failed == []
    return {"parameters": did.parameters, "swept": did.swept, "deleted": did.deleted}


def steps(store: StrictParameterStore) -> dict[str, Steps]:
    return by_key({"Name": name, "Value": value} for name, value in store.standing().items())


def found(store: StrictParameterStore) -> list[str]:
    return problems(steps(store))


def test_one_run_of_the_sweeper_leaves_it_as_it_must(store: StrictParameterStore) -> None:
    counts = sweep(store)

    assert found(store) == []
    assert counts == registrations_sweep.counts(len(store.standing()))


def test_without_that_run_nothing_old_is_as_it_must_be(store: StrictParameterStore) -> None:
    said = " ".join(found(store))

    for name in registrations_sweep.NAMES - {FRESH}:
        assert f"planted, {name}:" in said


def test_a_second_run_at_once_changes_nothing_that_is_fresh(store: StrictParameterStore) -> None:
    sweep(store)
    sweep(store)

    said = found(store)  # CLEARED is put on top of what is alone, and nothing else
    assert len(said) == 2
    assert all("run 2" in each for each in said)
    assert wrong(steps(store), again=True) == {}


def test_where_more_runs_follow_a_sweep_that_did_too_much_is_still_seen(store: StrictParameterStore) -> None:
    sweep(store)
    sweep(store)
    standing = steps(store)
    gone = next(name for name in standing if "run 2" in name)
    del standing[gone]

    assert list(wrong(standing, again=True)) == [gone]


def test_as_many_keys_as_were_planted_are_looked_for() -> None:
    store = StrictParameterStore(lambda: NOW)
    Gardener(store, PREFIX, now=NOW, keys_of_each=3).plant()
    sweep(store)

    assert wrong(steps(store), keys_of_each=3) == {}
    assert len(wrong(steps(store), keys_of_each=4)) == 3  # of the fourth age nothing is left anyhow


@pytest.mark.parametrize("name", [IN_DOUBT, LIVE, FRESH])
def test_a_key_that_had_to_stay_and_went_is_seen(store: StrictParameterStore, name: str) -> None:
    sweep(store)
    standing = steps(store)
    del standing[name]

    assert [each.partition(":")[0] for each in problems(standing)] == [f"planted, {name}"]
