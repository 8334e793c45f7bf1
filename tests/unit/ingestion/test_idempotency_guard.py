"""The guard's answer for every verdict of the ledger."""

from typing import Any

import pytest

from idempotency.adapters.memory import MemoryLedger
from idempotency.ledger import Ledger
from idempotency.model import Key, Policy, Semantics, State
from ingestion.idempotency_guard import guard
from tests.unit.aws import refusal
from tests.unit.conftest import Lines

NOW, LEASE, MARGIN, RETENTION = 1_800_000_000, 60, 10, 1_000
KEY = Key(pk="charge:1", sk="ingestion")


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger(Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN))


def _guard(ledger: Ledger, execution: str = "execution-1", now: int = NOW, **event: Any) -> dict[str, Any]:
    return guard(
        {
            "messageId": "m-1",
            "executionId": execution,
            "businessKey": "charge:1",
            "namespace": "ingestion",
            "retentionSeconds": RETENTION,
            "fingerprint": None,
            **event,
        },
        ledger=ledger,
        clock=lambda: now,
        lease=LEASE,
    )


def test_a_new_event_may_proceed(ledger: MemoryLedger, metric_lines: Lines) -> None:
    assert _guard(ledger) == {
        "proceed": True,
        "reason": "claimed",
        "idempotencyKey": {"pk": "charge:1", "sk": "ingestion"},
        "attempt": 1,
        "leaseUntil": NOW + LEASE,
    }
    record = ledger.read(KEY)
    assert record is not None
    assert (record.owner, record.expires_at) == ("execution-1", NOW + RETENTION)
    assert [line["Claims"] for line in metric_lines()] == [[1.0]]


def test_a_retried_guard_finds_its_own_claim_and_is_counted_once(
    ledger: MemoryLedger, metric_lines: Lines
) -> None:
    assert _guard(ledger) == _guard(ledger, now=NOW + 1)
    assert len(metric_lines()) == 1


def test_a_guard_retried_after_its_lease_still_proceeds(ledger: MemoryLedger) -> None:
    _guard(ledger)
    assert _guard(ledger, now=NOW + LEASE + MARGIN)["proceed"] is True


AT = {"owner": "execution-1", "attempt": 1, "now": NOW}


def _in_progress(_: MemoryLedger) -> None:
    pass


def _done(ledger: MemoryLedger) -> None:
    ledger.complete(KEY, **AT, retention=RETENTION)


def _failed(ledger: MemoryLedger) -> None:
    ledger.fail(KEY, **AT, retention=RETENTION, reason="rejected")


def _in_doubt(ledger: MemoryLedger) -> None:
    ledger.doubt(KEY, **AT, reason="in-doubt")


@pytest.mark.parametrize(
    ("bring", "reason"),
    [(_in_progress, "in-progress"), (_done, "done"), (_failed, "failed"), (_in_doubt, "in-doubt")],
)
def test_a_duplicate_is_told_why_it_may_not(
    bring: Any, reason: str, ledger: MemoryLedger, metric_lines: Lines
) -> None:
    _guard(ledger)
    bring(ledger)
    before = ledger.read(KEY)
    metric_lines()
    answer = _guard(ledger, "execution-2")
    assert (answer["proceed"], answer["reason"], answer["attempt"]) == (False, reason, 1)
    assert ledger.read(KEY) == before
    duplicate, *dead_lettered = metric_lines()
    assert (duplicate["Duplicates"], duplicate["State"]) == ([1.0], reason)
    # Those whose message the workflow dead-letters count as that too.
    assert [line["Reason"] for line in dead_lettered] == (
        [reason] if reason in ("failed", "in-doubt") else []
    )


def test_other_content_under_the_same_key_is_a_mismatch(ledger: MemoryLedger, metric_lines: Lines) -> None:
    _guard(ledger, fingerprint="content")
    answer = _guard(ledger, "execution-2", fingerprint="other content")
    assert (answer["proceed"], answer["reason"]) == (False, "mismatch")
    assert [line["Reason"] for line in metric_lines() if "DeadLettered" in line] == ["mismatch"]


def test_an_abandoned_claim_is_put_in_doubt_before_anybody_dead_letters(ledger: MemoryLedger) -> None:
    _guard(ledger)
    answer = _guard(ledger, "execution-2", now=NOW + LEASE + MARGIN)
    assert (answer["proceed"], answer["reason"]) == (False, "in-doubt")
    record = ledger.read(KEY)
    assert record is not None
    assert (record.state, record.owner) == (State.IN_DOUBT, "execution-1")


def test_a_released_event_is_claimed_at_the_next_attempt(ledger: MemoryLedger) -> None:
    _guard(ledger)
    ledger.release(KEY, **AT, retention=RETENTION, reason="not-applied")
    answer = _guard(ledger, "execution-2")
    assert (answer["proceed"], answer["attempt"]) == (True, 2)


def test_of_a_direct_call_only_the_message_and_the_execution_are_needed(ledger: MemoryLedger) -> None:
    answer = guard({"messageId": "m-1", "executionId": "e-1"}, ledger=ledger, clock=lambda: NOW, lease=LEASE)
    assert answer["idempotencyKey"] == {"pk": "sqs:m-1", "sk": "ingestion"}
    record = ledger.read(Key(pk="sqs:m-1", sk="ingestion"))
    assert record is not None
    assert record.expires_at == NOW + 86_400


def test_the_key_is_in_every_line_the_payload_in_none(ledger: MemoryLedger, log_lines: Lines) -> None:
    _guard(ledger, body="payload-marker")
    (line,) = log_lines()
    assert (line["event_key"], line["message_id"]) == ("ingestion/charge:1", "m-1")
    assert "payload-marker" not in str(line)


class _Throttled(MemoryLedger):
    def claim(self, *_: Any, **__: Any) -> Any:
        raise refusal("ProvisionedThroughputExceededException", "UpdateItem")


def test_a_ledger_that_fails_is_no_claim(metric_lines: Lines) -> None:
    ledger = _Throttled(Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN))
    with pytest.raises(Exception, match="ProvisionedThroughputExceeded"):
        _guard(ledger)
    assert metric_lines() == []


def test_a_message_that_came_back_is_not_skipped_for_a_claim_in_progress(
    ledger: MemoryLedger, metric_lines: Lines
) -> None:
    """It may be the event's only copy, and the claim one that nobody works under."""
    _guard(ledger)
    answer = _guard(ledger, execution="execution-2", returned=True)
    assert (answer["proceed"], answer["reason"]) == (False, "still-in-progress")
    emitted = metric_lines()
    assert [line["State"] for line in emitted if "Duplicates" in line] == ["in-progress"]
    assert [line["Reason"] for line in emitted if "DeadLettered" in line] == ["still-in-progress"]


def test_one_that_came_back_is_skipped_if_its_event_is_done_meanwhile(ledger: MemoryLedger) -> None:
    _guard(ledger)
    _done(ledger)
    assert _guard(ledger, execution="execution-2", returned=True)["reason"] == "done"
