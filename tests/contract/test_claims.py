"""What a claim leaves behind, whom it refuses for other content, and what becomes of the attempt."""

import pytest

from idempotency.ledger import Ledger
from idempotency.model import Key, Policy, Verdict
from tests.contract.engines import Engine
from tests.contract.lives import COLUMNS, LEASE, MARGIN, NOW, OTHER, POLICIES, Worker

eager = pytest.mark.parametrize("policy", [POLICIES["idempotent-downstream, retry"]], ids=["eager"])


@eager
def test_the_attempt_rises_with_every_claim_and_survives_every_release(
    policy: Policy, worker: Worker
) -> None:
    stranger = Worker(worker.ledger, worker.key, OTHER)
    assert worker.claim().record.attempt == 1
    assert worker.release().attempt == 1
    assert stranger.claim().record.attempt == 2
    assert stranger.fail().attempt == 2
    assert worker.claim().record.attempt == 3
    assert worker.doubt().attempt == 3
    assert stranger.claim().record.attempt == 4
    assert worker.claim(now=NOW + LEASE + MARGIN).record.attempt == 5


@eager
@pytest.mark.parametrize("column", ["R", "X", "FAILED", "IN_DOUBT", "expired"])
def test_a_claim_removes_all_that_the_claim_before_it_left(
    column: str, policy: Policy, engine: Engine, ledger: Ledger, key: Key
) -> None:
    COLUMNS[column](Worker(ledger, key, fingerprint="content"))
    fresh = Key(pk=f"{key.pk}:fresh", sk=key.sk)
    Worker(ledger, fresh, OTHER).claim()
    record = Worker(ledger, key, OTHER).claim().record
    assert (record.result, record.reason, record.attention, record.fingerprint) == (None, None, None, None)
    assert engine.attributes(ledger, key) == engine.attributes(ledger, fresh)


@eager
@pytest.mark.parametrize("column", ["R", "L", "X", "DONE", "FAILED", "IN_DOUBT"])
def test_other_content_under_the_same_key_is_a_mismatch_in_every_column(
    column: str, policy: Policy, engine: Engine, worker: Worker
) -> None:
    worker.fingerprint = "content"
    COLUMNS[column](worker)
    before = engine.at_rest(worker.ledger, worker.key)
    claim = Worker(worker.ledger, worker.key, OTHER, fingerprint="other content").claim()
    assert (claim.verdict, claim.until, claim.held) == (Verdict.MISMATCH, None, False)
    assert claim.record == worker.read()
    assert engine.at_rest(worker.ledger, worker.key) == before


@pytest.mark.parametrize("column", ["L", "X", "DONE", "FAILED", "IN_DOUBT"])
def test_at_most_once_too(column: str, worker: Worker) -> None:
    worker.fingerprint = "content"
    COLUMNS[column](worker)
    claim = Worker(worker.ledger, worker.key, OTHER, fingerprint="other content").claim()
    assert claim.verdict is Verdict.MISMATCH


@pytest.mark.parametrize("column", ["absent", "expired"])
def test_no_record_and_an_expired_one_mismatch_nothing(column: str, worker: Worker) -> None:
    worker.fingerprint = "content"
    COLUMNS[column](worker)
    claim = Worker(worker.ledger, worker.key, OTHER, fingerprint="other content").claim()
    assert (claim.verdict, claim.record.fingerprint) == (Verdict.ACQUIRED, "other content")


@eager
@pytest.mark.parametrize("column", ["R", "L", "X", "DONE", "FAILED", "IN_DOUBT"])
def test_an_owner_never_mismatches_itself(column: str, policy: Policy, worker: Worker) -> None:
    worker.fingerprint = "content"
    COLUMNS[column](worker)
    worker.fingerprint = "other content"
    assert worker.claim().verdict is not Verdict.MISMATCH


@eager
@pytest.mark.parametrize(("stored", "given"), [(None, "content"), ("content", None), (None, None)])
@pytest.mark.parametrize("column", ["R", "L", "X", "DONE", "FAILED", "IN_DOUBT"])
def test_where_one_side_has_no_fingerprint_nothing_mismatches(
    column: str, stored: str | None, given: str | None, policy: Policy, worker: Worker
) -> None:
    worker.fingerprint = stored
    COLUMNS[column](worker)
    claim = Worker(worker.ledger, worker.key, OTHER, fingerprint=given).claim()
    assert claim.verdict is not Verdict.MISMATCH
    assert claim.record.fingerprint == (given if claim.held else stored)


@pytest.mark.parametrize("column", ["R", "DONE", "L"])
def test_equal_content_mismatches_nothing(column: str, worker: Worker) -> None:
    worker.fingerprint = "content"
    COLUMNS[column](worker)
    assert Worker(worker.ledger, worker.key, OTHER, fingerprint="content").claim().verdict in (
        Verdict.ACQUIRED,
        Verdict.DONE,
        Verdict.IN_PROGRESS,
    )


def test_two_use_cases_never_share_a_claim(ledger: Ledger, key: Key) -> None:
    assert Worker(ledger, key).claim().verdict is Verdict.ACQUIRED
    assert Worker(ledger, Key(pk=key.pk, sk="notification"), OTHER).claim().verdict is Verdict.ACQUIRED
