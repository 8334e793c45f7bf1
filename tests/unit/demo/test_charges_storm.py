"""The charges demo's verdict: what bank, endpoint, records and dead letters say must fit together."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandbox.demo.both_semantics import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM
from sandbox.demo.charges_plan import ChargesPlan, Kind, PlannedCharge
from sandbox.demo.charges_storm import ChargesStorm
from sandbox.demo.deployment import DeadLetter
from sandbox.demo.queued_deployment import QueuedDeployment
from sandbox.demo.tally import Run
from sandbox.downstream import Answer, Call, Downstream

KILLED = PlannedCharge(id="A-1", kind=Kind.KILLED)
GOOD = PlannedCharge(id="A-2", kind=Kind.ACCEPTED)
NOT_NOTIFIED = PlannedCharge(id="A-3", kind=Kind.NOT_NOTIFIED)
NEGATIVE = PlannedCharge(id="A-4", kind=Kind.NEGATIVE)
PLAN = ChargesPlan(
    events=(KILLED, GOOD, NOT_NOTIFIED, NEGATIVE), overlapping=(), later=(), mismatched=(GOOD,)
)


@dataclass
class Seen(QueuedDeployment):
    """What a deployment shows after the storm."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    letters: list[DeadLetter] = field(default_factory=list)

    def records(self) -> dict[str, dict[str, Any]]:
        return {f"charge:{charge}": item for charge, item in self.items.items()}

    def take_dead_letters(self) -> list[DeadLetter]:
        return self.letters

    def log_lines(self, function: str) -> list[dict[str, Any]]:
        return [{"message": said, "function": function} for said in ("done", "already done")]


class World:
    """After a storm in which everything went well; `judge` says what the demo would say of it."""

    def __init__(self, semantics: str) -> None:
        self.semantics = semantics
        self.bank = Downstream(dedupe=True)
        self.endpoint = Downstream(self._fail_one)
        self.seen = Seen()
        self.dead_letter(NEGATIVE.body, "invalid-amount")
        self.dead_letter(GOOD.mismatch, "mismatch")
        for charge, status in ((GOOD, "DEBITED"), (NOT_NOTIFIED, "DEBITED_NOTIFICATION_FAILED")):
            self.debit(charge)
            self.notify(charge)
            self.record(charge, status=status)
        self.debit(KILLED)
        if semantics == AT_MOST_ONCE:
            self.record(KILLED, state="IN_DOUBT")
            self.dead_letter(KILLED.body, "in-doubt")
        else:
            self.debit(KILLED)
            self.notify(KILLED)
            self.record(KILLED, status="DEBITED", unknown=True)

    def debit(self, charge: PlannedCharge) -> None:
        call(self.bank, charge.id)

    def notify(self, charge: PlannedCharge) -> None:
        call(self.endpoint, f"{charge.id}:notification")

    def record(
        self, charge: PlannedCharge, *, state: str = "DONE", status: str | None = None, unknown: bool = False
    ) -> None:
        result = {} if status is None else {"result": {"S": json.dumps({"status": status})}}
        self.seen.items[charge.id] = {"state": {"S": state}, "unknown": {"BOOL": unknown}, **result}

    def dead_letter(self, body: str, reason: str) -> None:
        self.seen.letters.append(DeadLetter(body=body, reason=reason, attributes={}))

    def storm(self) -> ChargesStorm:
        return ChargesStorm(self.semantics, PLAN, self.seen, bank=self.bank, notifications=self.endpoint)

    def judge(self) -> Run:
        return self.storm()._judge(seconds=1)

    def _fail_one(self, of: Call, _nth: int) -> Answer:
        return Answer(status=500 if of.key.startswith(NOT_NOTIFIED.id) else 200)


def call(downstream: Downstream, key: str) -> None:
    downstream._handle(Call(at=0, method="POST", path="/", key=key, attempt="1", body=b""))


@pytest.mark.parametrize(
    ("semantics", "counts", "done"),
    [
        (AT_MOST_ONCE, {"debits": 3, "notifications": 1, "notification_failed": 1, "reclaimed": 0}, 2),
        (
            IDEMPOTENT_DOWNSTREAM,
            {"debits": 3, "notifications": 2, "notification_failed": 1, "reclaimed": 1},
            3,
        ),
    ],
)
def test_when_all_goes_well_the_verdict_is_ok(semantics: str, counts: dict[str, int], done: int) -> None:
    report = World(semantics).judge().report()

    assert report["violations"] == []
    assert {name: report[name] for name in counts} == counts
    assert (report["done"], report["skipped"], report["dead_lettered"]) == (done, 1, 1)
    assert report["dead_letter_reasons"]["mismatch"] == 1


def no_mismatch(world: World) -> None:
    world.seen.letters = [letter for letter in world.seen.letters if letter.reason != "mismatch"]


def mismatch_for_another_reason(world: World) -> None:
    world.dead_letter(GOOD.mismatch, "failed")


def not_notified_at_all(world: World) -> None:
    world.endpoint = Downstream()


def notified_without_a_debit(world: World) -> None:
    world.notify(NEGATIVE)


def failed_notification_not_on_record(world: World) -> None:
    world.record(NOT_NOTIFIED, status="DEBITED")


def debited_what_nobody_sent(world: World) -> None:
    world.debit(PlannedCharge(id="A-9", kind=Kind.ACCEPTED))


def done_without_a_debit(world: World) -> None:
    world.bank = Downstream(dedupe=True)


def malformed_for_another_reason(world: World) -> None:
    world.dead_letter(NEGATIVE.body, "invalid-currency")


@pytest.mark.parametrize(
    "spoil",
    [
        no_mismatch,
        mismatch_for_another_reason,
        not_notified_at_all,
        notified_without_a_debit,
        failed_notification_not_on_record,
        debited_what_nobody_sent,
        done_without_a_debit,
        malformed_for_another_reason,
    ],
)
@pytest.mark.parametrize("semantics", [AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM])
def test_whatever_does_not_fit_spoils_the_verdict(semantics: str, spoil: Callable[[World], None]) -> None:
    world = World(semantics)
    spoil(world)

    assert world.judge().report()["verdict"] == "failed"


def test_under_at_most_once_a_repeated_call_is_doubled_although_the_bank_dedupes() -> None:
    world = World(AT_MOST_ONCE)
    world.debit(KILLED)
    report = world.judge().report()

    assert (report["doubled"], report["debits"], report["effects"]) == (1, 3, 4)
    assert report["verdict"] == "failed"


def test_under_idempotent_downstream_it_is_not_and_the_ledger_of_the_bank_says_so() -> None:
    world = World(IDEMPOTENT_DOWNSTREAM)
    world.debit(KILLED)
    report = world.judge().report()

    assert (report["doubled"], report["debits"], report["effects"]) == (0, 3, 3)
    assert report["verdict"] == "ok"


def test_the_story_of_a_charge_is_what_bank_endpoint_and_consumer_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def line(message: str, second: int, key: str | None, **more: str) -> dict[str, Any]:
        timestamp = f"2126-03-01 12:00:0{second},250+0000"
        return {"message": message, "timestamp": timestamp, "event_key": key, **more}

    world = World(AT_MOST_ONCE)
    lines = [
        {"message": "what the consumer says of no message"},
        line("done", 1, "charge:A-2", status="DEBITED"),
        line("already done", 2, "charge:A-2"),
        line("dead-lettered", 3, None, reason="invalid-amount"),
    ]
    monkeypatch.setattr(world.seen, "log_lines", lambda _function: lines)
    storm = world.storm()
    walked = storm._look_back()

    assert [(moment.what, moment.told) for moment in storm.journal.moments()["A-2"]] == [
        ("effect", "bank: the effect takes place, answers 200"),
        ("call", "notification: accepted, answers 200"),
        ("end", "consumer: done (DEBITED)"),
        ("skipped", "consumer: already done"),
    ]
    assert (walked.by, walked.steps["(start)", "Consumer"]) == ("receives", 3)
    assert walked.steps["Consumer", "dead-lettered"] == 1
    assert walked.steps["Consumer", "in progress"] == 0
