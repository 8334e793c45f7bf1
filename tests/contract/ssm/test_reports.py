"""Whom to tell of a FAILED or IN_DOUBT: nobody more, once a step says that somebody was told."""

import pytest

from idempotency.adapters.ssm import SsmLedger
from idempotency.model import Policy, State, Verdict
from tests.contract.lives import COLUMNS, MARKS, NOW, OTHER, POLICIES, RETENTION, Worker
from tests.ssm.parameter_store import StrictParameterStore

TO_TELL = ["FAILED", "IN_DOUBT"]

every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())


@pytest.mark.parametrize("column", TO_TELL)
def test_what_failed_or_is_in_doubt_is_unreported_until_it_is_reported(
    column: str, ledger: SsmLedger, worker: Worker
) -> None:
    COLUMNS[column](worker)
    record = ledger.unreported(worker.key)
    assert record == worker.read()
    assert record is not None
    ledger.report(record, now=NOW + 5)
    assert ledger.unreported(worker.key) is None


@pytest.mark.parametrize("column", ["absent", "R", "L", "X", "DONE"])
def test_anything_else_is_nothing_to_report(column: str, ledger: SsmLedger, worker: Worker) -> None:
    COLUMNS[column](worker)
    assert ledger.unreported(worker.key) is None


@pytest.mark.parametrize("column", TO_TELL)
def test_the_step_repeats_the_record_below_it(column: str, ledger: SsmLedger, worker: Worker) -> None:
    COLUMNS[column](worker)
    before = worker.read()
    ledger.report(before, now=NOW + 5)
    after = worker.read()
    assert after.updated_at == NOW + 5
    for name in ("state", "owner", "attempt", "unknown", "expires_at", "lease_until", "reason"):
        assert getattr(after, name) == getattr(before, name), name


@every_policy
@pytest.mark.parametrize("column", TO_TELL)
def test_no_policy_tries_again_what_a_person_was_told_of(
    column: str, policy: Policy, ledger: SsmLedger, worker: Worker
) -> None:
    COLUMNS[column](worker)
    ledger.report(worker.read(), now=NOW + 5)
    claim = Worker(ledger, worker.key, OTHER).claim(now=NOW + 6)
    assert claim.verdict is {"FAILED": Verdict.FAILED, "IN_DOUBT": Verdict.IN_DOUBT}[column]


@pytest.mark.parametrize("way_out", ["complete", "fail", "release"])
def test_the_owner_and_a_person_get_it_out_of_doubt_as_before(
    way_out: str, ledger: SsmLedger, worker: Worker
) -> None:
    COLUMNS["IN_DOUBT"](worker)
    ledger.report(worker.read(), now=NOW + 5)
    record = MARKS[way_out](worker, now=NOW + 6)
    assert record == worker.read()
    assert record.state is not State.IN_DOUBT


def test_a_failure_that_was_reported_expires_like_any(ledger: SsmLedger, worker: Worker) -> None:
    COLUMNS["FAILED"](worker)
    record = worker.read()
    ledger.report(record, now=NOW + 5)
    claim = Worker(ledger, worker.key, OTHER).claim(now=NOW + RETENTION)
    assert claim.verdict is Verdict.ACQUIRED


def test_a_report_of_what_has_moved_on_changes_nothing(
    ledger: SsmLedger, worker: Worker, store: StrictParameterStore
) -> None:
    COLUMNS["IN_DOUBT"](worker)
    record = worker.read()
    worker.complete()
    before = store.standing()
    ledger.report(record, now=NOW + 5)
    assert store.standing() == before


@pytest.mark.parametrize("policy", [POLICIES["at-most-once, retry"]], ids=["retry"])
def test_a_report_of_an_earlier_failure_does_not_speak_for_a_later_one(
    policy: Policy, ledger: SsmLedger, worker: Worker
) -> None:
    COLUMNS["FAILED"](worker)
    earlier = worker.read()
    again = Worker(ledger, worker.key, OTHER)
    again.claim()
    again.fail()
    ledger.report(earlier, now=NOW + 5)
    assert ledger.unreported(worker.key) == again.read()


def test_two_that_report_the_same_leave_one_report(
    ledger: SsmLedger, worker: Worker, store: StrictParameterStore, path: str
) -> None:
    COLUMNS["FAILED"](worker)
    record = worker.read()
    ledger.report(record, now=NOW + 5)
    ledger.report(record, now=NOW + 6)
    assert len(store.standing(path)) == 3


def test_a_report_whose_answer_was_lost_is_recognised(
    ledger: SsmLedger, worker: Worker, store: StrictParameterStore, path: str
) -> None:
    COLUMNS["FAILED"](worker)
    store.faults.lose_answers("PutParameter")
    ledger.report(worker.read(), now=NOW + 5)
    assert len(store.standing(path)) == 3
    assert ledger.unreported(worker.key) is None
