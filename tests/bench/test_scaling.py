"""The limits of an account and the simulated hours: against closed forms, and what the documents say."""

from dataclasses import replace
from typing import Any

import pytest

from bench import part
from bench.scaling import assumed, chart, outcome, quotas, receivers, report
from bench.scaling.assumed import Assumed
from bench.scaling.buckets import Concurrency, TokenBucket
from bench.scaling.fluid import at_a_time, backlog, drain_seconds
from bench.scaling.limits import first, limits, parameters
from bench.scaling.outcome import Outcome
from bench.scaling.quotas import REGIONS, Quotas, Region
from bench.scaling.report import Known
from bench.scaling.scenario import Case, Scenario, cases, scenarios
from bench.scaling.setup import Setup, Workload, setups
from bench.scaling.simulation import simulate
from charges import consumer

PEAK_SECONDS = 200


@pytest.fixture(scope="module")
def load() -> Assumed:
    return assumed.read()


@pytest.fixture(scope="module")
def limit_of() -> Quotas:
    return quotas.read()


@pytest.fixture(scope="module")
def ours() -> dict[Workload, Setup]:
    return setups()


@pytest.fixture(scope="module")
def known(load: Assumed, limit_of: Quotas, ours: dict[Workload, Setup]) -> Known:
    return Known(assumed=load, quotas=limit_of, setups=ours, simulated=outcome.read())


def short(scenario: Scenario) -> Scenario:
    """Minutes instead of an hour."""
    return replace(scenario, peak_seconds=PEAK_SECONDS, lead_seconds=30)


def run(
    known: Known, workload: Workload, name: str = "hour", *, region: Region = "large", **changed: Any
) -> Outcome:
    case = Case(
        scenario=short(scenarios(known.assumed)[name]),
        setup=replace(known.setups[workload], **changed),
        region=region,
    )
    return simulate(case, known.quotas, known.assumed)


def test_a_bucket_grants_its_size_at_once_and_then_its_rate() -> None:
    bucket = TokenBucket(size=100, rate=10)
    assert bucket.take(0, 150) == 100
    assert bucket.take(1, 150) == 10
    assert bucket.take(1000, 150) == 100


def test_who_reserves_waits_behind_all_that_did_so_before() -> None:
    bucket = TokenBucket(size=10, rate=5)
    assert bucket.reserve(0, 10) == 0
    assert bucket.reserve(0, 10) == 2
    assert bucket.reserve(0, 5) == 3


def test_no_more_run_at_a_time_than_may() -> None:
    slots = Concurrency(3)
    assert [slots.take(2), slots.take(2)] == [2, 1]
    slots.give_back(3)
    assert (slots.used, slots.most) == (0, 3)


def test_the_backlog_of_charges_is_that_of_the_closed_form(known: Known) -> None:
    setup, slow = known.setups["charges"], scenarios(known.assumed)["slow"]
    found = run(known, "charges", "slow")
    served = setup.received_per_second(effect=slow.effect)
    expected = backlog(arriving=slow.peak, served=served, seconds=PEAK_SECONDS)
    assert found.most_waiting == pytest.approx(expected, rel=0.05)
    after = drain_seconds(waiting=expected, arriving=slow.average, served=setup.received_per_second())
    assert found.drain_seconds == pytest.approx(after, rel=0.1)
    assert found.dead == 0


def test_starts_beyond_the_quota_pile_up_as_the_closed_form_says(known: Known) -> None:
    peak = known.assumed.peak_rate
    found = run(known, "ingestion", region="other")
    served, saved = (known.quotas.of(name, "other") for name in ("start_rate", "start_bucket"))
    expected = backlog(arriving=peak, served=served, seconds=PEAK_SECONDS) - saved
    assert found.most_waiting == pytest.approx(expected, rel=0.1)
    assert found.throttled > 0
    assert found.dead == 0


@pytest.mark.parametrize("seconds", [2, 5])
def test_executions_at_a_time_are_those_of_littles_law(known: Known, seconds: int) -> None:
    setup = known.setups["ingestion"]
    name = {2: "slow", 5: "slower"}[seconds]
    scenario = scenarios(known.assumed)[name]
    tall = replace(known.quotas.by_name["lambda_concurrency"], large=10_000)
    wide = replace(known.quotas, by_name={**known.quotas.by_name, "lambda_concurrency": tall})
    found = simulate(Case(scenario=short(scenario), setup=setup, region="large"), wide, known.assumed)
    stay = sum(setup.seconds(each, effect=scenario.effect) for each in setup.states if each)
    # The most there ever are: above the mean by what a Poisson process strays meanwhile.
    assert found.most_open == pytest.approx(at_a_time(arriving=scenario.peak, seconds=stay), rel=0.3)
    assert found.most_open >= at_a_time(arriving=scenario.peak, seconds=stay)


@pytest.mark.parametrize("workload", ["ingestion", "charges", "orders"])
@pytest.mark.parametrize("name", ["hour", "down"])
def test_every_event_is_done_dead_or_waiting_and_three_states_are_entered(
    known: Known, workload: Workload, name: str
) -> None:
    found = run(known, workload, name)
    assert 0 <= found.arrived - found.done - found.dead <= 10 * known.assumed.average_rate
    if name == "hour" and workload == "ingestion":
        assert found.transitions <= 3 * found.arrived
        assert found.transitions >= 3 * found.done


def test_the_same_seed_gives_the_same_hour_and_another_seed_another(known: Known) -> None:
    again = replace(known, assumed=replace(known.assumed, seed=2))
    assert run(known, "charges") == run(known, "charges")
    assert run(known, "charges") != run(again, "charges")


def test_what_takes_charges_is_moved_by_max_concurrency(known: Known) -> None:
    held, free = (run(known, "charges", "slow", max_concurrency=number) for number in (10, 60))
    assert held.most_waiting > 10 * free.most_waiting


def test_orders_wait_at_the_gateway_until_its_rate_is_raised(known: Known) -> None:
    held = run(known, "orders")
    free = run(known, "orders", gateway_rate=300, gateway_burst=600)
    assert held.throttled > 0
    assert free.throttled == 0
    assert held.most_waiting > 10 * free.most_waiting


@pytest.mark.parametrize(("pollers", "dies"), [(10, False), (20, True)])
def test_more_pollers_than_the_quota_of_starts_takes_send_messages_to_the_dead_letter_queue(
    known: Known, pollers: int, dies: bool
) -> None:
    """In a shorter time, as messages come back sooner."""
    shipped = known.setups["ingestion"]
    scenario = replace(scenarios(known.assumed)["hour"], peak_seconds=500)
    setup = replace(shipped, max_concurrency=pollers, visibility_seconds=shipped.visibility_seconds // 5)
    found = simulate(Case(scenario=scenario, setup=setup, region="other"), known.quotas, known.assumed)
    assert found.dead == found.at_receive_limit
    assert (found.most_receives == setup.max_receive_count) is dies
    assert bool(found.dead) is dies


def test_the_first_limit_moves_with_its_setting(known: Known) -> None:
    setup, rate = known.setups["orders"], known.assumed.peak_rate
    before = first(limits(setup, rate, known.quotas, "large"))
    after = first(limits(replace(setup, gateway_rate=1000), rate, known.quotas, "large"))
    assert before.moves.startswith("api.rate_per_second")
    assert after.resource != before.resource
    assert after.headroom > before.headroom


def test_a_quota_below_what_is_needed_is_a_backlog_in_the_simulation_too(known: Known) -> None:
    for workload, setup in known.setups.items():
        for region in REGIONS if setup.states else ("large",):
            narrow = first(limits(setup, known.assumed.peak_rate, known.quotas, region)).headroom < 1
            waiting = known.simulated[f"{workload}, {region}: tenfold hour"].most_waiting
            assert narrow == (waiting > 60 * known.assumed.peak_rate)


def test_the_ladder_of_charges_is_that_of_the_shipped_consumer() -> None:
    assert receivers.FIRST_RETRY_SECONDS == consumer.FIRST_RETRY_SECONDS
    assert receivers.LONGEST_RETRY_SECONDS == consumer.LONGEST_RETRY_SECONDS
    assert report.ladder_seconds(5)[0] == 10 + 20 + 40 + 80


def test_parameter_store_is_full_within_minutes(known: Known) -> None:
    found = parameters(known.assumed, known.quotas, retention_days=31)
    assert found.events_a_day == pytest.approx(10_000 / 2 / 31)
    assert found.full_after_seconds == pytest.approx(216)


def test_the_document_says_what_is_computed(known: Known) -> None:
    text = report.SCALING.read_text(encoding="utf-8")
    for name, section in part.sections(report.parts(known)).items():
        assert f"<!-- {name} -->\n\n{section}\n\n<!-- /{name} -->" in text
    assert chart.CHART.read_text(encoding="utf-8") == report.picture(known)


def test_every_case_was_simulated(known: Known) -> None:
    assert list(known.simulated) == [case.name for case in cases(known.assumed, dict(known.setups))]


def test_a_recorded_hour_is_what_is_simulated(known: Known) -> None:
    hour = next(iter(cases(known.assumed, dict(known.setups))))
    assert simulate(hour, known.quotas, known.assumed) == known.simulated[hour.name]


def test_the_settings_that_the_document_recommends_do_what_it_says(known: Known) -> None:
    found = known.simulated
    assert found["charges, large: downstream refuses"].dead > 0
    assert found["charges, large: downstream refuses; max_receive_count 12"].dead == 0
    assert found["ingestion, other: tenfold hour"].dead == 0
    assert found["ingestion, other: tenfold hour; max_concurrency 20"].dead > 0
    slow = "charges, large: effects take 2 s"
    assert found[f"{slow}; max_concurrency 60"].most_waiting < found[slow].most_waiting / 100
    assert found["orders, large: tenfold hour; rate_per_second 300"].throttled == 0
    behind = found["orders, other: tenfold hour; rate_per_second 300"]
    assert behind.most_open > behind.most_waiting / 2


def test_names_in_the_picture_do_not_cover_each_other() -> None:
    drawn = chart.draw({"one": [0, 5], "two": [0, 5], "three": [0, 50]}, minutes=1, begin=0, end=1)
    places = [line for line in drawn.splitlines() if ">one<" in line or ">two<" in line]
    assert len(places) == len({line.split(' y="')[1].split('"')[0] for line in places}) == 2
