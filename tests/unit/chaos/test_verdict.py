"""The verdict of chaos: what was lost, what was doubled, and what never failed although it was to."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest

from sandbox.chaos import calls
from sandbox.chaos.campaign import AT_RANDOM, AtRandom, Campaign, Round
from sandbox.chaos.faults import Fault
from sandbox.chaos.operation import Operation
from sandbox.chaos.verdict import seen_in_rounds, verdict
from sandbox.demo.tally import Run, Story


class Kind(StrEnum):
    ANY = "any"


@dataclass(frozen=True, kw_only=True)
class Event:
    id: str
    kind: Kind = Kind.ANY
    body: str = ""


def operation(name: str) -> Operation:
    return Operation(service="dynamodb", name=name, use="test", kind=Kind.ANY, call=calls.any_of_them)


def event(number: int) -> Event:
    return Event(id=f"E-{number}")


CAMPAIGN = Campaign(
    rounds=(
        Round(operation=operation("PutItem"), fault=Fault.LOST, events=(event(1), event(2))),
        Round(operation=operation("GetItem"), fault=Fault.RESET, events=(event(3),)),
    ),
    at_random=AtRandom(events=(event(4),)),
    overlapping=(),
    later=(),
)
PUT, GET = (each.name for each in CAMPAIGN.rounds)
CALLED = {"dynamodb:PutItem": 5, "dynamodb:GetItem": 1}

DONE: dict[str, Any] = {"effects": 1, "state": "DONE", "reasons": ()}
DEAD: dict[str, Any] = {"effects": 0, "state": "FAILED", "reasons": ("rejected",)}
IN_DOUBT: dict[str, Any] = {"effects": 1, "state": "IN_DOUBT", "reasons": ("in-doubt",)}
LOST: dict[str, Any] = {"effects": 0, "state": "IN_PROGRESS", "reasons": ()}
FORGOTTEN: dict[str, Any] = {"effects": 0, "state": None, "reasons": ()}
DONE_IN_VAIN: dict[str, Any] = {"effects": 0, "state": "DONE", "reasons": ()}
DOUBLED: dict[str, Any] = {"effects": 2, "state": "DONE", "reasons": ()}


def run(*problems: str, **ends: dict[str, Any]) -> Run:
    """Of events that are done, but for those with another end: `E_1=LOST`."""
    found = {each.id: DONE for each in CAMPAIGN.events}
    found |= {name.replace("_", "-"): end for name, end in ends.items()}
    stories = tuple(Story(event=id_, kind="any", **end) for id_, end in found.items())
    return Run(stories=stories, deliveries=0, skipped=0, seconds=0, problems=problems)


def judged(
    *runs: Run, called: dict[str, int] = CALLED, **fired: int
) -> tuple[dict[str, Any], dict[tuple[str, str], dict[str, Any]]]:
    """The report, and its rows by round. `fired` by the round's number, once each by default."""
    found = verdict(
        {str(number): CAMPAIGN for number, _ in enumerate(runs)},
        {str(number): each for number, each in enumerate(runs)},
        {
            (str(number), name): fired.get(f"round_{nth}", 1)
            for number, _ in enumerate(runs)
            for nth, name in enumerate((PUT, GET, AT_RANDOM), start=1)
        },
        calls=called,
        tried={"dynamodb:PutItem", "dynamodb:GetItem"},
    )
    return found, {(row["operation"], row["fault"]): row for row in found["rounds"]}


def test_what_is_done_dead_lettered_or_in_doubt_is_accounted_for() -> None:
    report, rows = judged(run(E_1=DEAD, E_2=IN_DOUBT))

    assert report["verdict"] == "ok"
    assert (rows[PUT]["dead_lettered"], rows[PUT]["in_doubt"], rows[PUT]["effects"]) == (1, 1, 1)
    assert (rows[GET]["done"], rows[AT_RANDOM]["done"]) == (1, 1)
    assert {row["verdict"] for row in rows.values()} == {"ok"}


@pytest.mark.parametrize("end", [LOST, FORGOTTEN, DONE_IN_VAIN])
def test_a_lost_event_fails_its_round_and_no_other(end: dict[str, Any]) -> None:
    report, rows = judged(run(E_2=end))

    assert (report["verdict"], report["lost"], report["doubled"]) == ("failed", 1, 0)
    assert [(row["lost"], row["verdict"]) for row in rows.values()] == [(1, "failed"), (0, "ok"), (0, "ok")]
    assert "lost" in report["violations"][0]


def test_a_doubled_event_fails_its_round_and_no_other() -> None:
    report, rows = judged(run(E_3=DOUBLED))

    assert (report["verdict"], report["lost"], report["doubled"]) == ("failed", 0, 1)
    assert [(row["doubled"], row["verdict"]) for row in rows.values()] == [
        (0, "ok"),
        (1, "failed"),
        (0, "ok"),
    ]


def test_a_lost_event_of_the_round_at_random_is_found_too() -> None:
    _, rows = judged(run(E_4=LOST))
    assert (rows[AT_RANDOM]["lost"], rows[AT_RANDOM]["verdict"]) == (1, "failed")


def test_a_fault_that_never_came_about_is_no_pass() -> None:
    report, rows = judged(run(), round_2=0)

    assert report["verdict"] == "failed"
    assert (rows[PUT]["verdict"], rows[GET]["verdict"]) == ("ok", "never fired")


def test_a_fault_has_to_come_about_over_each_deployment() -> None:
    campaigns = {"a": CAMPAIGN, "b": CAMPAIGN}
    names = (PUT, GET, AT_RANDOM)
    fired = {(deployment, name): 1 for deployment in campaigns for name in names} | {("b", PUT): 0}
    report = verdict(campaigns, {name: run() for name in campaigns}, fired, calls=CALLED, tried=CALLED)

    (row,) = (row for row in report["rounds"] if (row["operation"], row["fault"]) == PUT)
    assert (row["fired"], row["fired_by_deployment"], row["verdict"]) == (1, {"a": 1, "b": 0}, "never fired")


def test_an_operation_that_no_round_lets_fail_makes_the_list_old() -> None:
    report, _ = judged(run(), called={**CALLED, "dynamodb:Query": 1})

    assert report["verdict"] == "failed"
    assert report["violations"] == ["dynamodb:Query was called, and no round lets it fail"]


def test_whatever_else_a_storm_found_wrong_is_no_pass() -> None:
    report, _ = judged(run("an effect for E-9, which nobody sent"))

    assert report["verdict"] == "failed"
    assert report["violations"] == ["an effect for E-9, which nobody sent"]


def test_deployments_share_a_line_and_keep_their_events_apart() -> None:
    report, rows = judged(run(), run(E_1=DOUBLED))

    assert (report["events"], report["doubled"]) == (8, 1)
    assert [row["events"] for row in rows.values()] == [4, 2, 2]
    assert (rows[PUT]["effects"], rows[PUT]["doubled"], rows[PUT]["fired"]) == (5, 1, 2)


def test_no_round_at_all_is_no_pass() -> None:
    nothing: Campaign[Event] = Campaign(rounds=(), at_random=AtRandom(events=()), overlapping=(), later=())
    empty = Run(stories=(), deliveries=0, skipped=0, seconds=0)

    assert verdict({"a": nothing}, {"a": empty}, {}, calls={}, tried=())["verdict"] == "failed"


def test_the_story_of_an_event_tells_which_round_it_was_drawn_for() -> None:
    found = seen_in_rounds({"one": CAMPAIGN}, {"one": run()})["each_event"]

    assert {each["event"]: each["kind"] for each in found} == {
        "E-1": ": ".join(PUT),
        "E-2": ": ".join(PUT),
        "E-3": ": ".join(GET),
        "E-4": ": ".join(AT_RANDOM),
    }
