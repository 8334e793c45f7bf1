"""Registrations: their records are parameters, and an operator's step is the next number like anybody's."""

from collections.abc import Callable
from typing import Any

import pytest

from idempotency.adapters.ssm import SsmLedger
from idempotency.model import Key, Record, State, Verdict
from ops.audit import Entry
from ops.numbered import NumberedRecords
from ops.release import released
from ops.resolve import resolved
from ops.trouble import Trouble
from tests.ops.conftest import Once
from tests.ops.deployed import LEASE, MARGIN, PREFIX, RETENTION, Deployed, now

Told = Callable[..., Any]
KEY = Key(pk="RegistrationExpiry:R-1:2026-01-01", sk="registrations")


@pytest.fixture
def ledger(deployed: Deployed) -> SsmLedger:
    return deployed.add_registrations()


def _claim(ledger: SsmLedger, *, owner: str = "two", at: int | None = None) -> Any:
    return ledger.claim(KEY, owner=owner, now=at or now(), lease=LEASE, retention=RETENTION)


def _marked(ledger: SsmLedger, state: State) -> Record:
    """Claimed an hour ago, marked, and reported."""
    at = now() - 3_600
    attempt = _claim(ledger, owner="one", at=at).record.attempt
    if state is State.FAILED:
        record = ledger.fail(
            KEY, owner="one", attempt=attempt, now=at, retention=RETENTION, reason="rejected"
        )
    else:
        record = ledger.doubt(KEY, owner="one", attempt=attempt, now=at, reason="in-doubt")
    ledger.report(record, now=at)
    return record


@pytest.mark.parametrize("key", ["R-1:2026-01-01", KEY.pk, str(KEY)])
def test_what_happened_is_done(ledger: SsmLedger, told: Told, key: str) -> None:
    _marked(ledger, State.IN_DOUBT)
    (answer,) = told("resolve", key, "--applied", "--reason", "the registry has it", "--yes")
    assert (answer["stack"], answer["is"]) == ("dev-registrations", "DONE")
    assert _claim(ledger).verdict is Verdict.DONE


@pytest.mark.parametrize(
    ("state", "words"), [(State.IN_DOUBT, ["resolve", "--not-applied"]), (State.FAILED, ["release"])]
)
def test_what_was_reported_is_taken_by_the_next_run_once_it_is_given_back(
    ledger: SsmLedger, told: Told, state: State, words: list[str]
) -> None:
    _marked(ledger, state)
    assert _claim(ledger).verdict is not Verdict.ACQUIRED
    told(*words, "R-1:2026-01-01", "--reason", "mended {at} last", "--yes")
    claim = _claim(ledger)
    assert (claim.verdict, claim.record.attempt, claim.record.unknown) == (Verdict.ACQUIRED, 2, False)
    (story,) = told("show", "R-1:2026-01-01")
    assert [(entry["why"], entry["who"]) for entry in story["audit"]] == [
        ("mended {at} last", story["audit"][0]["who"])
    ]


def test_of_an_operator_and_a_claim_that_compete_one_wins(deployed: Deployed, ledger: SsmLedger) -> None:
    _marked(ledger, State.FAILED)
    records = NumberedRecords(deployed.client("ssm"), PREFIX)
    stored = records.read(KEY, now=now())
    assert stored is not None
    wanted = released(stored.record, now=now(), retention=RETENTION)
    first = Entry.of(at=now(), who="me", what="released", why="x" * 400)
    records.change(stored.record, wanted, first)
    records.change(stored.record, wanted, first)  # as after a lost answer
    claimed = _claim(ledger).record
    with pytest.raises(Trouble, match="changed meanwhile"):
        records.change(stored.record, wanted, Entry.of(at=now(), who="you", what="released", why="late"))
    assert ledger.read(KEY) == claimed
    after = records.read(KEY, now=now())
    assert after is not None
    assert [entry.who for entry in after.trail] == ["me"]


def test_an_abandoned_one_is_resolved_and_its_late_worker_changes_nothing(
    deployed: Deployed, ledger: SsmLedger
) -> None:
    seen = _claim(ledger, owner="one", at=now() - LEASE - MARGIN).record
    wanted = resolved(seen, applied=False, now=now(), margin=MARGIN, retention=RETENTION)
    records = NumberedRecords(deployed.client("ssm"), PREFIX)
    records.change(seen, wanted, Entry.of(at=now(), who="me", what="resolved", why="seen"))
    assert ledger.read(KEY) == wanted


def test_parameters_are_read_through_only_when_asked(ledger: SsmLedger, told: Told) -> None:
    _marked(ledger, State.IN_DOUBT)
    (status,) = told("status", "--workload", "registrations")
    assert status["records"] is None
    (scanned,) = told("status", "--workload", "registrations", "--scan")
    assert scanned["records"] == {"FAILED": 0, "IN_DOUBT": 1, "RELEASED": 0, "past their lease": 0}
    assert told("stuck", "--workload", "registrations") == []  # nobody was told of it yet
    (row,) = told("stuck", "--workload", "registrations", "--scan")
    assert row["key"] == str(KEY)


def test_without_a_scan_those_are_stuck_that_were_dead_lettered(
    deployed: Deployed, ledger: SsmLedger, told: Told
) -> None:
    _marked(ledger, State.IN_DOUBT)
    deployed.bury("registrations", "{}", reason="in-doubt", eventKey=KEY.pk)
    for _ in range(2):
        (row,) = told("stuck")
        assert row["key"] == str(KEY)
    told("resolve", KEY.pk, "--applied", "--reason", "seen", "--yes")
    assert told("stuck") == []


def test_many_in_doubt_are_resolved_by_their_reason(ledger: SsmLedger, told: Told) -> None:
    _marked(ledger, State.IN_DOUBT)
    (answer,) = told("resolve", "--reason-code", "in-doubt", "--applied", "--reason", "all of them", "--yes")
    assert answer["is"] == "DONE"


def test_their_dead_letters_have_no_queue_to_go_back_to(ledger: SsmLedger, once: Once) -> None:
    result = once("dlq", "redrive", "--all", "--yes", "--workload", "registrations")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "a registration that is released is taken by the next run" in result.stderr
