"""The registrations demo's verdict: registry, endpoint, parameters, logs, dead letters must fit."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandbox.demo import registrations_sweep
from sandbox.demo.both_semantics import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM
from sandbox.demo.deployment import DeadLetter
from sandbox.demo.registrations_deployment import Registrations
from sandbox.demo.registrations_plan import NO_REGISTRATIONS, Kind, PlannedRegistration, RegistrationsPlan
from sandbox.demo.registrations_steps import Steps
from sandbox.demo.registrations_storm import RegistrationsStorm
from sandbox.demo.registrations_sweep import STAYING, TAKEN, Gardener
from sandbox.demo.tally import Run
from sandbox.downstream import Answer, Call, Downstream


def registration(number: int, kind: Kind) -> PlannedRegistration:
    return PlannedRegistration(id=f"A-{number}", kind=kind, effective_date="2026-03-01")


KILLED, GOOD, NOT_NOTIFIED, REJECTED, LAST_LOOK, NOT_DUE = (
    registration(number, kind)
    for number, kind in enumerate(
        (Kind.KILLED, Kind.ACCEPTED, Kind.NOT_NOTIFIED, Kind.REJECTED, Kind.LAST_LOOK, Kind.NOT_DUE), start=1
    )
)
PLAN = RegistrationsPlan(
    events=(KILLED, GOOD, NOT_NOTIFIED, REJECTED, LAST_LOOK),
    overlapping=(GOOD,),
    later=(),
    bystanders=(NOT_DUE,),
)
OUTCOMES = {"executed": 3, "skipped-completed": 5, "skipped-in-flight": 2, "dead": 4}
ANSWER = {"executed": 0, "invalid": len(NO_REGISTRATIONS)}


@dataclass
class Seen(Registrations):
    """What a deployment shows after the storm."""

    keys: dict[str, Steps] = field(default_factory=dict)
    letters: list[DeadLetter] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    counted: int | None = None

    def steps(self) -> dict[str, Steps]:
        return self.keys

    def take_dead_letters(self) -> list[DeadLetter]:
        return self.letters

    def log_lines(self, function: str) -> list[dict[str, Any]]:
        parameters = self.counted or self.parameters
        return [{"Parameters": [parameters]}] if function == "Sweeper" else self.lines

    @property
    def parameters(self) -> int:
        return sum(map(len, self.keys.values()))


class World:
    """After a storm in which everything went well; `judge` says what the demo would say of it."""

    def __init__(self, semantics: str) -> None:
        self.semantics = semantics
        self.registry = Downstream(dedupe=semantics == IDEMPOTENT_DOWNSTREAM)
        self.endpoint = Downstream(self._fail_one)
        self.seen = Seen(keys=planted())
        self.answers = [dict(ANSWER), dict(ANSWER)]
        self.sweeps: list[dict[str, int]] | None = None
        for good, status in ((GOOD, "EXPIRED"), (NOT_NOTIFIED, "EXPIRED_NOTIFICATION_FAILED")):
            self.expire(good)
            self.notify(good)
            self.record(good, claimed(), done(status))
        self.record(REJECTED, claimed(), {"state": "FAILED"}, told("FAILED"))
        self.record(LAST_LOOK, claimed(), {"state": "FAILED"}, told("FAILED"))
        self.copy(REJECTED, "rejected")
        self.copy(LAST_LOOK, "too-late")
        self.expire(KILLED)
        if semantics == AT_MOST_ONCE:
            self.record(KILLED, claimed(), {"state": "IN_DOUBT"}, told("IN_DOUBT"))
            self.copy(KILLED, "in-doubt")
        else:
            self.expire(KILLED)
            self.notify(KILLED)
            self.record(KILLED, claimed(), claimed(2), done("EXPIRED"))
        self.event(NOT_DUE.entry, "not-due")
        self.event({"recordId": "A-0000"}, "invalid-effectiveDate")
        self.gave_up(KILLED.entry)
        for outcome, times in OUTCOMES.items():
            self.seen.lines.append({"Registrations": [times], "Outcome": outcome})
        self.seen.lines += [{"message": "run", "counts": ANSWER}] * 3  # one more than we asked for

    def expire(self, one: PlannedRegistration) -> None:
        call(self.registry, one.key)

    def notify(self, one: PlannedRegistration) -> None:
        call(self.endpoint, f"{one.key}:notification")

    def record(self, one: PlannedRegistration, *steps: dict[str, Any]) -> None:
        self.seen.keys[one.key] = dict(enumerate(steps, start=1))

    def copy(self, one: PlannedRegistration, reason: str) -> None:
        self.seen.letters.append(DeadLetter(body=one.body, reason=reason, attributes={}))

    def event(self, detail: Any, reason: str) -> None:
        body = json.dumps({"detail-type": "RegistrationExpiry", "detail": detail})
        self.seen.letters.append(DeadLetter(body=body, reason=reason, attributes={}))

    def gave_up(self, detail: Any) -> None:
        body = json.dumps({"requestPayload": {"detail": detail}, "requestContext": {}})
        self.seen.letters.append(DeadLetter(body=body, reason=None, attributes={}))

    def judge(self) -> Run:
        storm = RegistrationsStorm(
            self.semantics,
            PLAN,
            self.seen,
            registry=self.registry,
            notifications=self.endpoint,
            gardener=Gardener(None, "/unused", now=0),
        )
        storm._answers = self.answers
        expected = registrations_sweep.counts(self.seen.parameters)
        storm._sweeps = [expected] if self.sweeps is None else self.sweeps
        return storm._judge(seconds=1)

    def _fail_one(self, of: Call, _nth: int) -> Answer:
        return Answer(status=500 if of.key.startswith(f"{NOT_NOTIFIED.key}:") else 200)


def planted() -> dict[str, Steps]:
    """As the sweep leaves it."""

    def keys() -> Iterator[tuple[str, Steps]]:
        for name in registrations_sweep.NAMES - STAYING.keys():
            numbers, note = next(TAKEN[runs] for runs in TAKEN if f"run {runs}," in name)
            if numbers:
                yield name, {number: {"state": "DONE", "note": note} for number in numbers}
        for name, (numbers, state) in STAYING.items():
            yield name, {number: {"state": state} for number in numbers}

    return dict(keys())


def claimed(attempt: int = 1) -> dict[str, Any]:
    return {"state": "IN_PROGRESS", "attempt": attempt}


def done(status: str) -> dict[str, Any]:
    return {"state": "DONE", "result": json.dumps({"status": status})}


def told(state: str) -> dict[str, Any]:
    return {"state": state, "note": "REPORTED"}


def call(downstream: Downstream, key: str) -> None:
    downstream._handle(Call(at=0, method="POST", path="/", key=key, attempt="1", body=b""))


@pytest.mark.parametrize(
    ("semantics", "endings", "counts"),
    [
        (AT_MOST_ONCE, (2, 2, 1), {"notifications": 1, "notification_failed": 1, "reclaimed": 0}),
        (IDEMPOTENT_DOWNSTREAM, (3, 2, 0), {"notifications": 2, "notification_failed": 1, "reclaimed": 1}),
    ],
)
def test_when_all_goes_well_the_verdict_is_ok(
    semantics: str, endings: tuple[int, int, int], counts: dict[str, int]
) -> None:
    report = World(semantics).judge().report()

    assert report["violations"] == []
    assert (report["done"], report["dead_lettered"], report["in_doubt"]) == endings
    assert {name: report[name] for name in counts} == counts
    assert (report["deliveries"], report["skipped"]) == (14, 7)
    assert (report["runs"], report["scheduled_runs"], report["left_alone"]) == (3, 1, 1)
    reasons = report["dead_letter_reasons"]
    assert (reasons["retries-exhausted"], reasons["not-due"], reasons["invalid-effectiveDate"]) == (1, 1, 1)


def expired_twice(world: World) -> None:
    world.registry = Downstream()
    for one in (KILLED, KILLED, GOOD, GOOD, NOT_NOTIFIED):
        world.expire(one)


def expired_before_it_is_due(world: World) -> None:
    world.expire(NOT_DUE)


def expired_at_the_last_look(world: World) -> None:
    world.expire(LAST_LOOK)
    world.record(LAST_LOOK, claimed(), done("EXPIRED_NOTIFICATION_FAILED"))


def called_at_the_last_look(world: World) -> None:
    world.registry.script = lambda *_: Answer(status=422)
    world.expire(LAST_LOOK)


def recorded_what_is_not_due(world: World) -> None:
    world.record(NOT_DUE, claimed())


def done_without_an_expiry(world: World) -> None:
    world.registry = Downstream(dedupe=world.semantics == IDEMPOTENT_DOWNSTREAM)


def left_in_progress(world: World) -> None:
    world.record(GOOD, claimed())


def left_without_a_record(world: World) -> None:
    del world.seen.keys[GOOD.key]


def rejected_without_a_copy(world: World) -> None:
    world.seen.letters = [letter for letter in world.seen.letters if letter.reason != "rejected"]


def rejected_for_another_reason(world: World) -> None:
    world.copy(REJECTED, "in-doubt")


def rejected_without_the_step_that_says_told(world: World) -> None:
    world.record(REJECTED, claimed(), {"state": "FAILED"})


def copy_of_a_bystander(world: World) -> None:
    world.copy(NOT_DUE, "too-late")


def not_notified_at_all(world: World) -> None:
    world.endpoint = Downstream()


def notified_without_an_expiry(world: World) -> None:
    world.notify(REJECTED)


def failed_notification_not_on_record(world: World) -> None:
    world.record(NOT_NOTIFIED, claimed(), done("EXPIRED"))


def event_not_refused(world: World) -> None:
    world.seen.letters = [letter for letter in world.seen.letters if letter.reason != "not-due"]


def event_refused_for_another_reason(world: World) -> None:
    world.event(NOT_DUE.entry, "too-late")


def event_of_the_victim_vanished(world: World) -> None:
    world.seen.letters = [letter for letter in world.seen.letters if letter.reason is not None]


def event_that_nobody_sent(world: World) -> None:
    world.gave_up(NOT_NOTIFIED.entry)


def scheduled_run_in_vain(world: World) -> None:
    world.seen.letters.append(DeadLetter(body='{"requestPayload": {}}', reason=None, attributes={}))


def no_scheduled_run(world: World) -> None:
    world.seen.lines.pop()


def another_number_of_invalid_entries(world: World) -> None:
    world.answers[0]["invalid"] = 1


def still_busy_in_the_last_run(world: World) -> None:
    world.answers[-1]["executed"] = 1


def no_sweep(world: World) -> None:
    world.sweeps = []


def swept_too_much(world: World) -> None:
    world.sweeps = [registrations_sweep.counts(world.seen.parameters) | {"swept": 3}]


def swept_a_live_key(world: World) -> None:
    del world.seen.keys[registrations_sweep.LIVE]


def left_an_expired_key_alone(world: World) -> None:
    world.seen.keys["past its retention, run 1, 1"] = {1: claimed(), 2: done("EXPIRED")}


def counted_other_parameters(world: World) -> None:
    world.seen.counted = 7


@pytest.mark.parametrize(
    "spoil",
    [
        expired_twice,
        expired_before_it_is_due,
        expired_at_the_last_look,
        called_at_the_last_look,
        recorded_what_is_not_due,
        done_without_an_expiry,
        left_in_progress,
        left_without_a_record,
        rejected_without_a_copy,
        rejected_for_another_reason,
        rejected_without_the_step_that_says_told,
        copy_of_a_bystander,
        not_notified_at_all,
        notified_without_an_expiry,
        failed_notification_not_on_record,
        event_not_refused,
        event_refused_for_another_reason,
        event_of_the_victim_vanished,
        event_that_nobody_sent,
        scheduled_run_in_vain,
        no_scheduled_run,
        another_number_of_invalid_entries,
        still_busy_in_the_last_run,
        no_sweep,
        swept_too_much,
        swept_a_live_key,
        left_an_expired_key_alone,
        counted_other_parameters,
    ],
)
@pytest.mark.parametrize("semantics", [AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM])
def test_whatever_does_not_fit_spoils_the_verdict(semantics: str, spoil: Callable[[World], None]) -> None:
    world = World(semantics)
    spoil(world)

    assert world.judge().report()["verdict"] == "failed"


def test_a_victim_that_was_called_again_under_at_most_once_spoils_it() -> None:
    world = World(AT_MOST_ONCE)
    world.expire(KILLED)

    assert world.judge().report()["doubled"] == 1


def test_a_victim_that_nobody_took_over_spoils_it() -> None:
    world = World(IDEMPOTENT_DOWNSTREAM)
    world.registry = Downstream(dedupe=True)
    for one in (KILLED, GOOD, NOT_NOTIFIED):
        world.expire(one)
    world.record(KILLED, claimed(), done("EXPIRED"))

    assert [f"{KILLED.id} " in each for each in world.judge().report()["violations"]] == [True]


def test_an_event_that_came_while_another_was_at_it_may_be_given_up() -> None:
    world = World(IDEMPOTENT_DOWNSTREAM)
    world.gave_up(GOOD.entry)

    assert world.judge().report()["verdict"] == "ok"
