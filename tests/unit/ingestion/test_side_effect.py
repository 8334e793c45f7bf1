"""The effect runs under a live claim or not at all, and the record says what became of it."""

from typing import Any

import pytest

from idempotency.adapters.memory import MemoryLedger
from idempotency.errors import LeaseLost, NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Key, Policy, Record, Semantics, State
from ingestion.effect import Event
from ingestion.side_effect import Terms, perform
from tests.unit.conftest import Lines

NOW, LEASE, MARGIN, RETENTION, TASK_TIMEOUT = 1_800_000_000, 60, 10, 1_000, 20
KEY = Key(pk="charge:1", sk="ingestion")


class Effect:
    """Counts what it caused, or raises."""

    def __init__(self, raises: Exception | None = None) -> None:
        self.events: list[Event] = []
        self.raises = raises

    def __call__(self, event: Event) -> object:
        self.events.append(event)
        if self.raises:
            raise self.raises
        return {"receipt": 7}


class Task:
    """State SideEffect of execution-1, whose guard has claimed at NOW."""

    def __init__(self, semantics: Semantics) -> None:
        self.semantics = semantics
        self.ledger = MemoryLedger(Policy(semantics=semantics, margin=MARGIN))
        self.effect = Effect()
        self.ledger.claim(KEY, owner="execution-1", now=NOW, lease=LEASE, retention=RETENTION)

    def run(self, now: int = NOW + 1, **event: Any) -> dict[str, str]:
        return perform(
            {
                "messageId": "m-1",
                "body": '{"id": 1}',
                "idempotencyKey": {"pk": "charge:1", "sk": "ingestion"},
                "attempt": 1,
                "leaseUntil": NOW + LEASE,
                "executionId": "execution-1",
                "retryCount": 0,
                "redriveCount": 0,
                **event,
            },
            cause=self.effect,
            ledger=self.ledger,
            clock=lambda: now,
            terms=Terms(
                semantics=self.semantics, lease=LEASE, retention=RETENTION, task_timeout=TASK_TIMEOUT
            ),
        )

    @property
    def record(self) -> Record:
        record = self.ledger.read(KEY)
        assert record is not None
        return record


@pytest.fixture(params=list(Semantics))
def task(request: pytest.FixtureRequest) -> Task:
    return Task(request.param)


@pytest.fixture
def once() -> Task:
    return Task(Semantics.AT_MOST_ONCE)


@pytest.fixture
def repeatable() -> Task:
    return Task(Semantics.IDEMPOTENT_DOWNSTREAM)


def test_the_effect_is_caused_and_the_record_completed(task: Task, metric_lines: Lines) -> None:
    assert task.run() == {"reason": "done"}
    assert task.effect.events == [
        Event(key="ingestion/charge:1", attempt=1, message_id="m-1", body='{"id": 1}')
    ]
    assert (task.record.state, task.record.result) == (State.DONE, '{"receipt":7}')
    assert task.record.expires_at == NOW + 1 + RETENTION
    assert [line["Done"] for line in metric_lines()] == [[1.0]]


def test_with_time_enough_the_lease_is_not_renewed(task: Task) -> None:
    task.effect.raises = NotApplied()
    with pytest.raises(NotApplied):
        task.run(now=NOW + LEASE - TASK_TIMEOUT)
    assert task.record.lease_until == NOW + LEASE


def test_a_lease_that_would_end_before_the_task_is_renewed_first(task: Task) -> None:
    task.effect.raises = NotApplied()
    with pytest.raises(NotApplied):
        task.run(now=NOW + LEASE - TASK_TIMEOUT + 1)
    assert task.record.lease_until == NOW + LEASE - TASK_TIMEOUT + 1 + LEASE
    assert task.record.unknown is False


def test_a_retry_renews_and_where_effects_are_repeated_marks_the_record_unknown(task: Task) -> None:
    task.effect.raises = NotApplied()
    with pytest.raises(NotApplied):
        task.run(retryCount=1)
    assert task.record.lease_until == NOW + 1 + LEASE
    assert task.record.unknown is (task.semantics is Semantics.IDEMPOTENT_DOWNSTREAM)


@pytest.mark.parametrize("error", [Rejected, NotApplied, OutcomeUnknown, KeyError])
def test_what_the_effect_raises_is_the_workflows_to_judge(error: type[Exception], task: Task) -> None:
    task.effect.raises = error("as it is")
    before = task.record
    with pytest.raises(error, match="as it is"):
        task.run()
    assert task.record == before


def test_at_most_once_a_redriven_effect_never_runs(once: Task) -> None:
    with pytest.raises(OutcomeUnknown, match="redriven"):
        once.run(redriveCount=1)
    assert once.effect.events == []
    assert once.record.state is State.IN_PROGRESS


def test_where_effects_are_repeated_a_redriven_one_runs_on_a_record_marked_unknown(repeatable: Task) -> None:
    assert repeatable.run(redriveCount=1, now=NOW + 500) == {"reason": "done"}
    assert len(repeatable.effect.events) == 1
    assert repeatable.record.unknown is True


@pytest.mark.parametrize("redrives", [None, 0])
def test_where_nothing_is_known_of_redrives_there_was_none(redrives: int | None, once: Task) -> None:
    assert once.run(redriveCount=redrives) == {"reason": "done"}


@pytest.mark.parametrize("event", [{"retryCount": 1}, {"leaseUntil": NOW}])
def test_a_claim_that_is_gone_before_the_effect_means_no_effect(
    event: dict[str, Any], repeatable: Task, metric_lines: Lines
) -> None:
    taken = repeatable.ledger.claim(
        KEY, owner="execution-2", now=NOW + LEASE + MARGIN, lease=LEASE, retention=RETENTION
    )
    with pytest.raises(LeaseLost):
        repeatable.run(now=NOW + LEASE + MARGIN, **event)
    assert repeatable.effect.events == []
    assert repeatable.record == taken.record
    assert [line["LostClaims"] for line in metric_lines()] == [[1.0]]


def test_a_claim_that_is_gone_after_the_effect_is_lost_too(repeatable: Task, metric_lines: Lines) -> None:
    """The taker's record stands; the workflow is told."""

    def slow(event: Event) -> object:
        repeatable.ledger.claim(
            KEY, owner="execution-2", now=NOW + LEASE + MARGIN, lease=LEASE, retention=RETENTION
        )
        return None

    repeatable.effect = slow  # type: ignore[assignment] # an effect is any function of an event
    with pytest.raises(LeaseLost):
        repeatable.run()
    assert (repeatable.record.owner, repeatable.record.state) == ("execution-2", State.IN_PROGRESS)
    assert [line["LostClaims"] for line in metric_lines()] == [[1.0]]


def test_a_result_that_cannot_be_kept_does_not_undo_what_happened(task: Task) -> None:
    task.effect = lambda _: {1, 2}  # type: ignore[assignment] # as above
    assert task.run() == {"reason": "done"}
    assert task.record.state is State.DONE


@pytest.mark.parametrize("event", [{"retryCount": 1}, {"leaseUntil": NOW}])
def test_a_retry_of_a_try_whose_answer_was_lost_is_done_without_another_effect(
    event: dict[str, Any], task: Task, metric_lines: Lines
) -> None:
    task.run()
    first = task.record
    assert task.run(now=NOW + 5, **event) == {"reason": "done"}
    assert len(task.effect.events) == 1
    assert task.record == first
    assert not any("LostClaims" in line for line in metric_lines())


@pytest.mark.parametrize(("owner", "attempt"), [("execution-1", 2), ("execution-2", 2)])
def test_done_by_anybody_else_is_a_lost_claim(owner: str, attempt: int, repeatable: Task) -> None:
    later = NOW + LEASE + MARGIN
    repeatable.ledger.claim(KEY, owner=owner, now=later, lease=LEASE, retention=RETENTION)
    repeatable.ledger.complete(KEY, owner=owner, attempt=attempt, now=later, retention=RETENTION)
    with pytest.raises(LeaseLost):
        repeatable.run(now=later, retryCount=1)
    assert repeatable.effect.events == []


def test_a_second_invocation_after_the_first_is_done_completes_nothing_anew(task: Task) -> None:
    """Two invocations of one task side by side: the record keeps the first result."""
    task.run()
    first = task.record
    assert task.run(now=NOW + 5) == {"reason": "done"}
    assert task.record == first


def test_the_key_is_in_every_line_the_payload_in_none(task: Task, log_lines: Lines) -> None:
    task.run(body='"payload-marker"')
    (line,) = log_lines()
    assert (line["event_key"], line["message_id"], line["attempt"]) == ("ingestion/charge:1", "m-1", 1)
    assert "payload-marker" not in str(line)
