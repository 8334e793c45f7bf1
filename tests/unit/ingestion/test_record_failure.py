"""How a failed execution is written down, and whether its message becomes a dead letter."""

from typing import Any

import pytest

from idempotency.adapters.memory import MemoryLedger
from idempotency.model import Key, Policy, Record, Semantics, State, Verdict
from ingestion.record_failure import record_failure
from tests.unit.aws import refusal
from tests.unit.conftest import Lines

NOW, LEASE, MARGIN, RETENTION = 1_800_000_000, 60, 10, 1_000
KEY = Key(pk="charge:1", sk="ingestion")
US, OTHER = "execution-1", "execution-2"
SETTLING: dict[str, Any] = {"now": NOW + 1, "retention": RETENTION}


class Story:
    """What became of the event before RecordFailure runs, in calls of the ledger."""

    def __init__(self, semantics: Semantics = Semantics.IDEMPOTENT_DOWNSTREAM) -> None:
        self.ledger = MemoryLedger(Policy(semantics=semantics, margin=MARGIN))

    def claim(self, owner: str = US, now: int = NOW) -> None:
        assert self.ledger.claim(KEY, owner=owner, now=now, lease=LEASE, retention=RETENTION).held

    def record_failure(
        self, error: str | None, *, proceed: bool | None = True, attempt: int = 1, now: int = NOW + 2
    ) -> str:
        """`proceed` None: the guard never answered."""
        state: dict[str, Any] = {"messageId": "m-1", "businessKey": "charge:1", "namespace": "ingestion"}
        if proceed is not None:
            state["outcome"] = {"proceed": proceed, "attempt": attempt, "reason": "claimed"}
        if error is not None:
            state["error"] = {"Error": error, "Cause": "..."}
        answer = record_failure(
            {"executionId": US, "state": state}, ledger=self.ledger, clock=lambda: now, retention=RETENTION
        )
        assert answer.keys() == {"reason"}
        return answer["reason"]

    @property
    def record(self) -> Record | None:
        return self.ledger.read(KEY)

    @property
    def state(self) -> State | None:
        return self.record.state if self.record else None


@pytest.fixture
def story() -> Story:
    return Story()


@pytest.mark.parametrize(
    ("error", "reason", "state"),
    [
        ("Rejected", "rejected", State.FAILED),
        ("NotApplied", "not-applied", State.RELEASED),
        ("OutcomeUnknown", "in-doubt", State.IN_DOUBT),
        ("States.Timeout", "in-doubt", State.IN_DOUBT),
        ("Lambda.Unknown", "in-doubt", State.IN_DOUBT),
        ("LeaseLost", "in-doubt", State.IN_DOUBT),
        ("KeyError", "in-doubt", State.IN_DOUBT),
        ("rejected", "in-doubt", State.IN_DOUBT),
        (None, "in-doubt", State.IN_DOUBT),
    ],
)
def test_what_the_effect_said_decides_and_anything_else_is_doubt(
    error: str | None, reason: str, state: State, story: Story, metric_lines: Lines
) -> None:
    story.claim()
    assert story.record_failure(error) == reason
    assert story.record is not None
    assert (story.record.state, story.record.reason) == (state, reason)
    assert [(line["DeadLettered"], line["Reason"]) for line in metric_lines()] == [([1.0], reason)]


def test_a_rejection_on_a_record_marked_unknown_is_doubt(story: Story) -> None:
    story.claim()
    story.ledger.renew(KEY, owner=US, attempt=1, now=NOW, lease=LEASE, retried=True)
    assert story.record_failure("Rejected") == "in-doubt"
    assert story.state is State.IN_DOUBT


def test_a_release_keeps_the_unknown_mark(story: Story) -> None:
    story.claim()
    story.ledger.renew(KEY, owner=US, attempt=1, now=NOW, lease=LEASE, retried=True)
    assert story.record_failure("NotApplied") == "not-applied"
    assert story.record is not None
    assert story.record.unknown is True


@pytest.mark.parametrize("error", ["Rejected", "NotApplied", "States.Timeout"])
def test_repeated_after_a_lost_answer_it_says_the_same(error: str, story: Story) -> None:
    story.claim()
    first = story.record_failure(error)
    before = story.record
    again = story.record_failure(error, now=NOW + 3)
    assert story.record == before
    if error == "NotApplied":
        assert (first, again) == ("not-applied", "not-applied")
    assert again == first


@pytest.mark.parametrize("error", ["NotApplied", "States.Timeout"])
def test_an_effect_whose_answer_was_lost_is_done(error: str, story: Story, metric_lines: Lines) -> None:
    story.claim()
    story.ledger.complete(KEY, owner=US, attempt=1, **SETTLING)
    assert story.record_failure(error) == "done"
    assert story.state is State.DONE
    assert metric_lines() == []


@pytest.mark.parametrize("error", ["Rejected", "NotApplied", "LeaseLost"])
def test_an_event_that_somebody_else_has_in_progress_keeps_a_copy(
    error: str, story: Story, metric_lines: Lines
) -> None:
    story.claim(now=NOW - LEASE - MARGIN)
    story.claim(OTHER)
    before = story.record
    assert story.record_failure(error) == "still-in-progress"
    assert story.record == before
    lost, dead_lettered = metric_lines()
    assert (lost["LostClaims"], dead_lettered["Reason"]) == ([1.0], "still-in-progress")


@pytest.mark.parametrize("outcome", ["done", "failed", "in doubt"])
@pytest.mark.parametrize("error", ["Rejected", "NotApplied", "LeaseLost"])
def test_an_event_that_somebody_else_has_dealt_with_is_left_alone(
    error: str, outcome: str, story: Story, metric_lines: Lines
) -> None:
    story.claim(now=NOW - LEASE - MARGIN)
    story.claim(OTHER)
    theirs: dict[str, Any] = {"owner": OTHER, "attempt": 2}
    match outcome:
        case "done":
            story.ledger.complete(KEY, **theirs, **SETTLING)
        case "failed":
            story.ledger.release(KEY, **theirs, **SETTLING, reason="r")
            story.claim(OTHER)
            story.ledger.doubt(KEY, owner=OTHER, attempt=3, now=NOW, reason="r")
        case "in doubt":
            story.ledger.doubt(KEY, **theirs, now=NOW, reason="r")
    before = story.record
    assert story.record_failure(error) == "claim-lost"
    assert story.record == before
    assert [line["LostClaims"] for line in metric_lines()] == [[1.0]]


@pytest.mark.parametrize("error", ["Rejected", "NotApplied", "LeaseLost"])
def test_a_claim_that_was_taken_over_and_given_back_is_dead_lettered(error: str, story: Story) -> None:
    """Nobody has it any more: to end here would lose the event."""
    story.claim(now=NOW - LEASE - MARGIN)
    story.claim(OTHER)
    story.ledger.release(KEY, owner=OTHER, attempt=2, **SETTLING, reason="r")
    assert story.record_failure(error) == "lease-lost"


@pytest.mark.parametrize("error", ["Rejected", "NotApplied", "LeaseLost"])
def test_a_claim_of_which_no_record_is_left_is_dead_lettered(error: str, story: Story) -> None:
    assert story.record_failure(error) == "lease-lost"
    assert story.record is None


def test_one_whose_record_has_expired_too(story: Story) -> None:
    story.claim()
    assert story.record_failure("Rejected", now=NOW + RETENTION) == "lease-lost"


@pytest.mark.parametrize(
    ("error", "reason", "state"),
    [
        ("Rejected", "rejected", State.FAILED),
        ("NotApplied", "not-applied", State.RELEASED),
        ("LeaseLost", "in-doubt", State.IN_DOUBT),
    ],
)
def test_a_later_attempt_of_our_own_is_marked_first(
    error: str, reason: str, state: State, story: Story
) -> None:
    """A late guard of ours claimed anew after the one whose answer the workflow holds."""
    story.claim(now=NOW - LEASE - MARGIN)
    story.ledger.release(
        KEY, owner=US, attempt=1, now=NOW, retention=RETENTION, reason="r", outcome_unknown=False
    )
    story.claim()
    assert story.record_failure(error, attempt=1) == reason
    assert story.record is not None
    assert (story.record.state, story.record.attempt) == (state, 2)


def test_what_we_have_settled_otherwise_before_keeps_its_name(story: Story) -> None:
    story.claim()
    story.ledger.fail(KEY, owner=US, attempt=1, **SETTLING, reason="rejected")
    assert story.record_failure("States.Timeout") == "rejected"
    assert story.state is State.FAILED


def test_a_guard_that_failed_without_a_claim_is_dead_lettered(story: Story, metric_lines: Lines) -> None:
    assert story.record_failure("ClientError", proceed=None) == "guard-failed"
    assert story.record is None
    assert [line["Reason"] for line in metric_lines()] == ["guard-failed"]


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_guard_that_failed_but_claimed_gives_its_claim_back(attempt: int, story: Story) -> None:
    story.claim()
    if attempt == 2:
        story.ledger.release(KEY, owner=US, attempt=1, **SETTLING, reason="r")
        story.claim()
    assert story.record_failure("States.Timeout", proceed=None) == "guard-failed"
    assert story.record is not None
    assert (story.record.state, story.record.attempt) == (State.RELEASED, attempt)
    assert story.record.unknown is False
    claim = story.ledger.claim(KEY, owner=OTHER, now=NOW + 3, lease=LEASE, retention=RETENTION)
    assert claim.verdict is Verdict.ACQUIRED


def test_an_answer_that_has_no_name_in_the_workflow_is_released_too(story: Story) -> None:
    story.claim()
    assert story.record_failure(None, proceed=False) == "guard-failed"
    assert story.state is State.RELEASED


@pytest.mark.parametrize("outcome", ["in progress", "failed", "in doubt"])
def test_a_failed_guard_touches_no_claim_of_another(outcome: str, story: Story) -> None:
    story.claim(OTHER)
    match outcome:
        case "failed":
            story.ledger.fail(KEY, owner=OTHER, attempt=1, **SETTLING, reason="r")
        case "in doubt":
            story.ledger.doubt(KEY, owner=OTHER, attempt=1, now=NOW, reason="r")
    before = story.record
    reason = "in-doubt" if outcome == "in doubt" else "guard-failed"
    assert story.record_failure("ClientError", proceed=None) == reason
    assert story.record == before


def test_a_failed_guard_of_an_event_that_is_done_has_nothing_to_dead_letter(
    story: Story, metric_lines: Lines
) -> None:
    story.claim(OTHER)
    story.ledger.complete(KEY, owner=OTHER, attempt=1, **SETTLING)
    assert story.record_failure("ClientError", proceed=None) == "done"
    assert metric_lines() == []


def test_a_failed_guard_of_an_event_whose_done_record_has_expired_is_dead_lettered(story: Story) -> None:
    """After retention the key is a new event, deleted or not: nobody has dealt with this one."""
    story.claim(OTHER)
    story.ledger.complete(KEY, owner=OTHER, attempt=1, now=NOW, retention=RETENTION)
    assert story.record_failure("ClientError", proceed=None, now=NOW + RETENTION) == "guard-failed"


def test_a_failed_guard_whose_own_claim_has_expired_is_dead_lettered(story: Story) -> None:
    story.claim()
    assert story.record_failure("ClientError", proceed=None, now=NOW + RETENTION) == "guard-failed"


class _TakenWhileReading(MemoryLedger):
    def read(self, key: Key) -> Record | None:
        seen = super().read(key)
        self.claim(key, owner=OTHER, now=NOW + LEASE + MARGIN, lease=LEASE, retention=RETENTION)
        return seen


def test_a_claim_taken_over_while_it_was_given_back_is_left_alone(story: Story) -> None:
    story.ledger = _TakenWhileReading(Policy(semantics=Semantics.IDEMPOTENT_DOWNSTREAM, margin=MARGIN))
    story.claim()
    assert story.record_failure("ClientError", proceed=None) == "guard-failed"
    record = MemoryLedger.read(story.ledger, KEY)
    assert record is not None
    assert (record.owner, record.state) == (OTHER, State.IN_PROGRESS)


class _Unreachable(MemoryLedger):
    def doubt(self, *_: Any, **__: Any) -> Record:
        raise refusal("ThrottlingException", "UpdateItem")


def test_a_ledger_that_fails_fails_the_task(metric_lines: Lines) -> None:
    """Step Functions retries it; after that the execution fails and the reconciler takes over."""
    story = Story()
    story.ledger = _Unreachable(Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN))
    story.claim()
    with pytest.raises(Exception, match="ThrottlingException"):
        story.record_failure("States.Timeout")
    assert metric_lines() == []


def test_a_delivery_without_a_business_key_is_found_by_its_message() -> None:
    ledger = MemoryLedger(Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN))
    key = Key(pk="sqs:m-1", sk="ingestion")
    ledger.claim(key, owner=US, now=NOW, lease=LEASE, retention=RETENTION)
    state = {"messageId": "m-1", "outcome": {"proceed": True, "attempt": 1}, "error": {"Error": "Rejected"}}
    record_failure({"executionId": US, "state": state}, ledger=ledger, clock=lambda: NOW, retention=RETENTION)
    record = ledger.read(key)
    assert record is not None
    assert record.state is State.FAILED


def test_the_key_is_in_every_line(story: Story, log_lines: Lines) -> None:
    story.claim()
    story.record_failure("Rejected")
    assert [(line["event_key"], line["reason"]) for line in log_lines()] == [
        ("ingestion/charge:1", "rejected")
    ]


@pytest.mark.parametrize(("fingerprint", "reason"), [("other", "mismatch"), ("same", "done"), (None, "done")])
def test_after_a_failed_guard_done_means_done_only_for_the_same_content(
    fingerprint: str | None, reason: str, story: Story
) -> None:
    story.ledger.claim(KEY, owner=OTHER, now=NOW, lease=LEASE, retention=RETENTION, fingerprint="same")
    story.ledger.complete(KEY, owner=OTHER, attempt=1, **SETTLING)
    state = {
        "messageId": "m-1",
        "businessKey": KEY.pk,
        "namespace": KEY.sk,
        "fingerprint": fingerprint,
        "error": {"Error": "ClientError", "Cause": "..."},
    }
    answer = record_failure(
        {"executionId": US, "state": state}, ledger=story.ledger, clock=lambda: NOW + 2, retention=RETENTION
    )
    assert answer == {"reason": reason}
