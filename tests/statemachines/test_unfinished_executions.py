"""Executions that were stopped, timed out or broke down, and the reconciler that sees to their events."""

from collections.abc import Callable
from typing import Any

import pytest

from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.ledger import Ledger
from idempotency.model import Policy, State
from tests.statemachines.conftest import TABLE
from tests.statemachines.dead_letter_queue import REFUSED
from tests.statemachines.executions import Run
from tests.statemachines.faults import CRASH, Gate, Play, after, answer_lost, fails, works
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.messages import CHANGED_EVENT, EVENT

Break = Callable[[IngestionRun, str], None]


@pytest.fixture
def ledger(policy: Policy, aws: dict[str, Any]) -> Ledger:
    return DynamoDBLedger(aws["dynamodb"], TABLE, policy)


def abort(ingestion: IngestionRun, execution: str) -> None:
    ingestion.machine.stop(execution)


def time_out(ingestion: IngestionRun, _execution: str) -> None:
    ingestion.time_is_up.set()


ENDS: dict[str, Break] = {"ABORTED": abort, "TIMED_OUT": time_out}
breaks = pytest.mark.parametrize("status", ENDS)


@breaks
def test_an_execution_broken_off_during_an_effect_that_dies_leaves_its_event_in_doubt(
    ingestion: IngestionRun, status: str
) -> None:
    run = broken_off_in_effect(ingestion, status, then=fails(CRASH))
    assert run.status == status
    assert ingestion.dead_letter_queue.letters == []

    assert ingestion.reconcile()["handled"] == 1

    assert state_of(ingestion) is State.IN_DOUBT
    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == ("in-doubt", EVENT)


@breaks
def test_an_effect_that_outlives_its_execution_counts_as_done(ingestion: IngestionRun, status: str) -> None:
    run = broken_off_in_effect(ingestion, status, then=works)
    assert run.status == status

    assert ingestion.reconcile()["handled"] == 1

    assert state_of(ingestion) is State.DONE
    assert ingestion.dead_letter_queue.letters == []


@breaks
@pytest.mark.parametrize(
    ("claimed", "state", "reason"), [(True, State.IN_DOUBT, "in-doubt"), (False, None, "unfinished")]
)
def test_an_execution_broken_off_during_its_guard_is_dead_lettered(
    ingestion: IngestionRun, status: str, claimed: bool, state: State | None, reason: str
) -> None:
    run = broken_off_in_guard(ingestion, status, claimed=claimed)
    assert run.status == status
    assert run.states == ["IdempotencyGuard"]

    ingestion.reconcile()

    assert state_of(ingestion) is state
    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == (reason, EVENT)
    assert ingestion.downstream.asked == []


def test_an_execution_whose_recorder_failed_for_good_is_dead_lettered(ingestion: IngestionRun) -> None:
    ingestion.downstream.always(fails(CRASH))
    ingestion.functions.record_failure.always(fails(CRASH))
    assert ingestion.deliver(EVENT).status == "FAILED"

    ingestion.reconcile()

    assert state_of(ingestion) is State.IN_DOUBT
    assert ingestion.dead_letter_queue.reasons == ["in-doubt"]


def test_an_execution_whose_copy_was_refused_for_good_is_dead_lettered(ingestion: IngestionRun) -> None:
    ingestion.functions.idempotency_guard.always(fails(CRASH))
    ingestion.dead_letter_queue.always(REFUSED)
    assert ingestion.deliver(EVENT).status == "FAILED"

    ingestion.reconcile()

    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == ("unfinished", EVENT)


def test_an_unfinished_execution_is_dealt_with_once(ingestion: IngestionRun) -> None:
    broken_off_in_effect(ingestion, "ABORTED", then=fails(CRASH))

    assert [ingestion.reconcile()["handled"] for _ in range(3)] == [1, 0, 0]
    assert len(ingestion.dead_letter_queue.letters) == 1


def test_an_end_is_left_alone_until_nothing_of_its_execution_can_still_run(ingestion: IngestionRun) -> None:
    broken_off_in_effect(ingestion, "ABORTED", then=fails(CRASH))
    ingestion.clock.advance(-1)

    assert ingestion.reconcile()["handled"] == 0
    assert state_of(ingestion) is State.IN_PROGRESS
    assert ingestion.dead_letter_queue.letters == []


def test_executions_that_dealt_with_their_events_are_none_of_the_reconcilers_business(
    ingestion: IngestionRun,
) -> None:
    ingestion.deliver(EVENT)
    ingestion.deliver(EVENT)

    assert ingestion.reconcile()["handled"] == 0
    assert ingestion.dead_letter_queue.letters == []


@pytest.mark.parametrize("overrides", [{"fingerprint": "amount"}])
def test_other_content_broken_off_is_dead_lettered_although_its_key_is_done(ingestion: IngestionRun) -> None:
    ingestion.deliver(EVENT)
    ingestion.dead_letter_queue.always(REFUSED)
    assert ingestion.deliver(CHANGED_EVENT).status == "FAILED"

    ingestion.reconcile()

    assert [letter.body for letter in ingestion.dead_letter_queue.letters] == [CHANGED_EVENT]


def test_a_new_event_broken_off_is_dead_lettered_although_its_expired_key_was_done(
    ingestion: IngestionRun,
) -> None:
    ingestion.deliver(EVENT)
    ingestion.clock.advance(ingestion.settings.retention_seconds)  # TTL deletes late
    broken_off_in_guard(ingestion, "ABORTED", claimed=False)

    ingestion.reconcile()

    assert ingestion.dead_letter_queue.reasons == ["unfinished"]


def test_the_machines_time_is_that_of_the_settings(ingestion: IngestionRun) -> None:
    assert ingestion.definition["TimeoutSeconds"] == ingestion.settings.workflow.timeout_seconds


def broken_off_in_effect(ingestion: IngestionRun, status: str, *, then: Play) -> Run:
    gate = Gate()
    ingestion.downstream.first(after(gate, then))
    return broken_off_at(gate, ingestion, status)


def broken_off_in_guard(ingestion: IngestionRun, status: str, *, claimed: bool) -> Run:
    gate = Gate()
    play = answer_lost(meanwhile=gate) if claimed else after(gate, fails(CRASH))
    ingestion.functions.idempotency_guard.first(play)
    return broken_off_at(gate, ingestion, status)


def broken_off_at(gate: Gate, ingestion: IngestionRun, status: str) -> Run:
    """The function goes on for a while after its execution has ended."""
    execution = ingestion.begin(EVENT)
    gate.wait_until_reached()
    ENDS[status](ingestion, execution)
    if status == "TIMED_OUT":
        ingestion.machine.finish(execution)
    gate.open()
    ingestion.functions.wait_until_idle()
    return ingestion.machine.finish(execution)


def state_of(ingestion: IngestionRun) -> State | None:
    record = ingestion.ledger.read(ingestion.key("E-1"))
    return record.state if record else None
