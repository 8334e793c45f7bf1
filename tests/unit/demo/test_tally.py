"""The demo's verdict: each event has one ending, and every broken promise makes it `failed`."""

from typing import Any

import pytest

from sandbox.demo.journal import Moment, What
from sandbox.demo.tally import Ending, Run, Story, together

SETTLED = [
    ("DONE", 1, (), Ending.DONE),
    ("IN_DOUBT", 0, ("in-doubt",), Ending.IN_DOUBT),
    ("IN_DOUBT", 1, ("in-doubt", "in-doubt"), Ending.IN_DOUBT),
    ("FAILED", 0, ("rejected", "failed"), Ending.DEAD_LETTERED),
    ("RELEASED", 0, ("not-applied",), Ending.DEAD_LETTERED),
    (None, 0, ("invalid-json",), Ending.DEAD_LETTERED),
    ("DONE", 1, ("guard-failed",), Ending.DONE),  # of a duplicate that came while it was at work
]
LOST = [
    (None, 0, ()),
    (None, 1, ()),
    ("DONE", 0, ()),
    ("DONE", 0, ("in-doubt",)),
    ("IN_PROGRESS", 0, ()),
    ("IN_PROGRESS", 1, ("in-doubt",)),
    ("FAILED", 0, ()),
    ("RELEASED", 0, ()),
    ("IN_DOUBT", 1, ()),
]
DOUBLED = [("DONE", 2, ()), ("IN_DOUBT", 2, ("in-doubt",))]
UNTRUE = [("FAILED", 1, ("rejected",)), ("RELEASED", 1, ("not-applied",)), (None, 1, ("no-key",))]


def story(state: str | None, effects: int, reasons: tuple[str, ...]) -> Story:
    return Story(event="E-1", kind="accepted", effects=effects, state=state, reasons=reasons)


def run(*stories: Story, **changed: Any) -> Run:
    return Run(**{"stories": stories, "deliveries": len(stories), "skipped": 0, "seconds": 1.0, **changed})


GOOD = story("DONE", 1, ())


@pytest.mark.parametrize(("state", "effects", "reasons", "ending"), SETTLED)
def test_an_event_that_is_accounted_for_is_ok(
    state: str | None, effects: int, reasons: tuple[str, ...], ending: Ending
) -> None:
    report = run(story(state, effects, reasons)).report()

    assert report[ending] == 1
    assert (report["lost"], report["doubled"], report["violations"]) == (0, 0, [])
    assert report["verdict"] == "ok"


@pytest.mark.parametrize(("state", "effects", "reasons"), LOST)
def test_an_event_that_ended_nowhere_is_lost(
    state: str | None, effects: int, reasons: tuple[str, ...]
) -> None:
    report = run(GOOD, story(state, effects, reasons)).report()

    assert report["lost"] == 1
    assert report["verdict"] == "failed"


@pytest.mark.parametrize(("state", "effects", "reasons"), DOUBLED)
def test_an_effect_that_happened_twice_is_doubled(
    state: str | None, effects: int, reasons: tuple[str, ...]
) -> None:
    report = run(GOOD, story(state, effects, reasons)).report()

    assert (report["doubled"], report["max_effects_per_event"]) == (1, 2)
    assert report["verdict"] == "failed"


@pytest.mark.parametrize(("state", "effects", "reasons"), UNTRUE)
def test_a_record_that_denies_an_effect_is_a_violation(
    state: str | None, effects: int, reasons: tuple[str, ...]
) -> None:
    report = run(story(state, effects, reasons)).report()

    assert len(report["violations"]) == 1
    assert report["verdict"] == "failed"


def test_a_problem_of_the_run_makes_it_fail_although_every_event_is_well() -> None:
    report = run(GOOD, problems=("not at rest within 150 s",)).report()

    assert (report["violations"], report["verdict"]) == (["not at rest within 150 s"], "failed")


def test_each_event_is_counted_once() -> None:
    settled = [story(state, effects, reasons) for state, effects, reasons, _ in SETTLED]
    stories = [*settled, *(story(*each) for each in (*LOST, *DOUBLED))]
    report = run(*stories, deliveries=40, skipped=7).report()

    endings = sum(report.get(ending, 0) for ending in Ending)
    assert endings == report["events"] == len(stories)
    assert report["effects"] == sum(each.effects for each in stories)
    assert (report["deliveries"], report["skipped"]) == (40, 7)


def test_runs_are_added_up_and_one_bad_one_spoils_the_whole() -> None:
    runs = {"one": run(GOOD, deliveries=2, skipped=1), "other": run(story("DONE", 2, ()), deliveries=3)}
    report = together(runs, seconds=9.0, workload="ingestion")

    assert (report["events"], report["deliveries"], report["skipped"], report["doubled"]) == (2, 5, 1, 1)
    assert report["verdict"] == "failed"
    assert {name: each["verdict"] for name, each in report["by_semantics"].items()} == {
        "one": "ok",
        "other": "failed",
    }


def test_a_problem_of_one_run_spoils_the_whole() -> None:
    report = together({"one": run(GOOD), "other": run(GOOD, problems=("late",))}, seconds=1.0)

    assert (report["violations"], report["verdict"]) == (["late"], "failed")


def test_what_a_workload_counts_besides_is_added_up_under_its_names() -> None:
    runs = {"one": run(GOOD, counts={"debits": 1, "reclaimed": 2}), "other": run(GOOD, counts={"debits": 4})}
    report = together(runs, seconds=1.0)

    assert (report["debits"], report["reclaimed"]) == (5, 2)
    assert report["by_semantics"]["other"]["debits"] == 4
    assert "debits" not in run(GOOD).report()


def test_a_dead_letter_that_contradicts_its_event_is_counted_and_spoils_nothing() -> None:
    report = together({"one": run(GOOD, other_reasons=("mismatch",))}, seconds=1.0)

    assert report["dead_letter_reasons"] == {"mismatch": 1}
    assert (report["done"], report["verdict"]) == (1, "ok")


def test_each_event_s_story_is_kept_with_what_was_seen_of_it() -> None:
    moments = (Moment(at=1.23456, what=What.DELIVERY, told="sent"),)
    report = together({"one": run(GOOD, moments={"E-1": moments}), "other": run(GOOD)}, seconds=1.0)

    told, silent = report["each_event"]
    assert told == {
        "event": "E-1",
        "deployment": "one",
        "kind": "accepted",
        "ending": "done",
        "state": "DONE",
        "effects": 1,
        "reasons": [],
        "violations": [],
        "moments": [{"at": 1.235, "what": "delivery", "told": "sent"}],
    }
    assert (silent["deployment"], silent["moments"]) == ("other", [])
    assert report["workflow"] == {}
