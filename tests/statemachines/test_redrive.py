"""RedriveExecution, played: the same execution goes on where it broke off, before or after the reconciler."""

import pytest

from idempotency.model import State
from tests.statemachines.dead_letter_queue import REFUSED
from tests.statemachines.executions import Run
from tests.statemachines.faults import CRASH, Gate, after, answer_lost, fails, works
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.marks import at_most_once, idempotent_downstream
from tests.statemachines.messages import EVENT
from tests.statemachines.paths import PROCEEDS, WAITED, WRITTEN_OFF

reconciled_or_not = pytest.mark.parametrize("reconciled", [False, True], ids=["before", "after reconciling"])


@at_most_once
@reconciled_or_not
def test_at_most_once_never_causes_the_effect_of_a_redriven_execution(
    ingestion: IngestionRun, reconciled: bool
) -> None:
    stopped = stopped_in_effect(ingestion, reconciled=reconciled)

    run = ingestion.redrive(stopped, at="SideEffect")

    assert run.status == "SUCCEEDED"
    assert run.states == ["SideEffect", *WAITED, *WRITTEN_OFF]
    assert len(ingestion.downstream.asked) == 1
    assert state_and_owner(ingestion) == (State.IN_DOUBT, stopped.arn)
    assert set(ingestion.dead_letter_queue.reasons) == {"in-doubt"}
    assert len(ingestion.dead_letter_queue.letters) == 1 + reconciled


@idempotent_downstream
def test_an_idempotent_downstream_is_asked_again_by_a_redriven_execution(ingestion: IngestionRun) -> None:
    stopped = stopped_in_effect(ingestion, reconciled=False)

    run = ingestion.redrive(stopped, at="SideEffect")

    assert run.states == ["SideEffect"]
    assert len({(event.key, event.attempt) for event in ingestion.downstream.asked}) == 1
    assert len(ingestion.downstream.asked) == 2
    record = ingestion.record("E-1")
    assert (record.state, record.owner, record.unknown) == (State.DONE, stopped.arn, True)
    assert record.lease_until == ingestion.clock() + ingestion.settings.lease_seconds
    assert ingestion.dead_letter_queue.letters == []


@idempotent_downstream
def test_a_redrive_after_reconciling_has_no_claim_to_cause_the_effect_under(ingestion: IngestionRun) -> None:
    stopped = stopped_in_effect(ingestion, reconciled=True)

    run = ingestion.redrive(stopped, at="SideEffect")

    assert run.states == ["SideEffect", *WAITED, *WRITTEN_OFF]
    assert len(ingestion.downstream.asked) == 1
    assert ingestion.dead_letter_queue.reasons == ["in-doubt", "in-doubt"]


@idempotent_downstream
@reconciled_or_not
def test_a_redrive_at_the_guard_that_had_not_claimed_proceeds(
    ingestion: IngestionRun, reconciled: bool
) -> None:
    stopped = stopped_before_claim(ingestion, reconciled=reconciled)

    assert ingestion.redrive(stopped, at="IdempotencyGuard").states == PROCEEDS
    assert state_and_owner(ingestion) == (State.DONE, stopped.arn)
    assert len(ingestion.downstream.happened) == 1


@at_most_once
@reconciled_or_not
def test_a_redrive_at_the_guard_ends_in_doubt_because_nothing_tells_where_it_was_redriven(
    ingestion: IngestionRun, reconciled: bool
) -> None:
    """Safe, if stricter than needed: `$$.Execution.RedriveCount` counts for every later state."""
    stopped = stopped_before_claim(ingestion, reconciled=reconciled)

    run = ingestion.redrive(stopped, at="IdempotencyGuard")

    assert run.states == [*PROCEEDS, *WAITED, *WRITTEN_OFF]
    assert ingestion.downstream.asked == []
    assert ingestion.dead_letter_queue.reasons[-1] == "in-doubt"


@idempotent_downstream
@reconciled_or_not
def test_a_redrive_at_the_guard_that_had_claimed_proceeds(ingestion: IngestionRun, reconciled: bool) -> None:
    stopped = stopped_after_claim(ingestion, reconciled=reconciled)

    ingestion.redrive(stopped, at="IdempotencyGuard")

    assert len(ingestion.downstream.happened) == 1
    assert state_and_owner(ingestion) == (State.DONE, stopped.arn)


@at_most_once
def test_a_redrive_at_the_guard_whose_claim_became_in_doubt_is_dead_lettered_not_skipped(
    ingestion: IngestionRun,
) -> None:
    stopped = stopped_after_claim(ingestion, reconciled=True)

    run = ingestion.redrive(stopped, at="IdempotencyGuard")

    assert run.states == ["IdempotencyGuard", "ShouldProceed", "DeadLetter", "DeadLettered"]
    assert ingestion.downstream.asked == []
    assert ingestion.dead_letter_queue.reasons == ["in-doubt", "in-doubt"]


def test_a_redrive_at_the_recorder_writes_the_failure_down(ingestion: IngestionRun) -> None:
    ingestion.downstream.always(fails(CRASH))
    ingestion.functions.record_failure.always(fails(CRASH))
    failed = ingestion.deliver(EVENT)
    ingestion.functions.record_failure.always(works)

    run = ingestion.redrive(failed, at="RecordFailure")

    assert run.states == WRITTEN_OFF
    assert ingestion.dead_letter_queue.reasons == ["in-doubt"]
    assert state_and_owner(ingestion) == (State.IN_DOUBT, failed.arn)


def test_a_redrive_at_the_refused_copy_sends_it(ingestion: IngestionRun) -> None:
    ingestion.downstream.always(fails(CRASH))
    ingestion.dead_letter_queue.always(REFUSED)
    failed = ingestion.deliver(EVENT)
    ingestion.dead_letter_queue.always(works)

    run = ingestion.redrive(failed, at="DeadLetter")

    assert run.states == ["DeadLetter", "DeadLettered"]
    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == ("in-doubt", EVENT)


def stopped_in_effect(ingestion: IngestionRun, *, reconciled: bool) -> Run:
    gate = Gate()
    ingestion.downstream.first(after(gate, fails(CRASH)))
    return stopped_at(gate, ingestion, reconciled=reconciled)


def stopped_before_claim(ingestion: IngestionRun, *, reconciled: bool) -> Run:
    gate = Gate()
    ingestion.functions.idempotency_guard.first(after(gate, fails(CRASH)))
    return stopped_at(gate, ingestion, reconciled=reconciled)


def stopped_after_claim(ingestion: IngestionRun, *, reconciled: bool) -> Run:
    gate = Gate()
    ingestion.functions.idempotency_guard.first(answer_lost(meanwhile=gate))
    return stopped_at(gate, ingestion, reconciled=reconciled)


def stopped_at(gate: Gate, ingestion: IngestionRun, *, reconciled: bool) -> Run:
    execution = ingestion.begin(EVENT)
    gate.wait_until_reached()
    ingestion.machine.stop(execution)
    gate.open()
    ingestion.functions.wait_until_idle()
    run = ingestion.machine.finish(execution)
    assert run.status == "ABORTED"
    if reconciled:
        assert ingestion.reconcile()["handled"] == 1
    return run


def state_and_owner(ingestion: IngestionRun) -> tuple[State, str]:
    record = ingestion.record("E-1")
    return record.state, record.owner
