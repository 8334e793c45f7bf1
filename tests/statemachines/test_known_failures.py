"""The effect or its function says for certain that nothing happened: rejected, not applied, throttled."""

import pytest

from idempotency.errors import NotApplied, Rejected
from idempotency.model import Semantics, State
from tests.statemachines.clock import START
from tests.statemachines.faults import CRASH, TaskFailed, answer_lost, fails
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.marks import idempotent_downstream
from tests.statemachines.messages import EVENT
from tests.statemachines.paths import PROCEEDS, SETTLED, WAITED, WRITTEN_OFF

REJECTS = fails(Rejected("no such account"))
NOT_APPLIED = fails(NotApplied("connection refused"))
THROTTLED = fails(TaskFailed("Lambda.TooManyRequestsException"))


def test_a_rejected_event_is_failed_and_dead_lettered_at_once(ingestion: IngestionRun) -> None:
    ingestion.downstream.always(REJECTS)

    run = ingestion.deliver(EVENT)

    assert run.status == "SUCCEEDED"
    assert run.states == [*PROCEEDS, *WRITTEN_OFF]
    assert len(ingestion.downstream.asked) == 1
    assert ingestion.clock.waits == ingestion.clock.naps == []
    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == ("rejected", EVENT)
    assert ingestion.record("E-1").state is State.FAILED


def test_the_output_of_a_dead_lettered_execution_still_tells_its_delivery_and_why(
    ingestion: IngestionRun,
) -> None:
    ingestion.downstream.always(REJECTS)

    run = ingestion.deliver(EVENT)

    assert run.output["body"] == EVENT
    assert run.output["outcome"]["reason"] == "rejected"
    assert run.output["deadLetter"]["MessageId"]


@idempotent_downstream
def test_a_rejection_after_an_unknown_outcome_is_in_doubt(ingestion: IngestionRun) -> None:
    ingestion.downstream.first(answer_lost(CRASH), REJECTS)

    ingestion.deliver(EVENT)

    assert ingestion.dead_letter_queue.reasons == ["in-doubt"]
    record = ingestion.record("E-1")
    assert (record.state, record.expires_at) == (State.IN_DOUBT, None)


@pytest.mark.parametrize("times", [1, 3, 6])
def test_an_effect_not_applied_is_tried_again_until_it_is(ingestion: IngestionRun, times: int) -> None:
    ingestion.downstream.first(*[NOT_APPLIED] * times)

    run = ingestion.deliver(EVENT)

    assert run.states == PROCEEDS
    assert len(ingestion.downstream.happened) == 1
    assert [call["retryCount"] for call in ingestion.functions.calls("SideEffect")] == list(range(times + 1))
    assert ingestion.clock.naps == [2, 4, 8, 16, 32, 60][:times]
    assert {event.attempt for event in ingestion.downstream.asked} == {1}


def test_a_retried_effect_renews_its_lease_first(ingestion: IngestionRun, semantics: Semantics) -> None:
    ingestion.downstream.first(NOT_APPLIED)

    ingestion.deliver(EVENT)

    record = ingestion.record("E-1")
    assert record.lease_until == START + sum(ingestion.clock.naps) + ingestion.settings.lease_seconds
    assert record.unknown == (semantics is Semantics.IDEMPOTENT_DOWNSTREAM)


def test_an_effect_that_is_never_applied_is_released_and_dead_lettered_without_a_wait(
    ingestion: IngestionRun,
) -> None:
    ingestion.downstream.always(NOT_APPLIED)

    run = ingestion.deliver(EVENT)

    assert run.states == [*PROCEEDS, *WRITTEN_OFF]
    assert len(ingestion.downstream.asked) == 1 + ingestion.settings.workflow.retry_attempts
    assert ingestion.clock.waits == []
    assert ingestion.dead_letter_queue.reasons == ["not-applied"]
    assert ingestion.record("E-1").state is State.RELEASED


def test_a_throttled_function_is_tried_again(ingestion: IngestionRun) -> None:
    ingestion.functions.side_effect.first(THROTTLED, THROTTLED)

    run = ingestion.deliver(EVENT)

    assert run.states == PROCEEDS
    assert len(ingestion.functions.calls("SideEffect")) == 3
    assert len(ingestion.downstream.happened) == 1


def test_a_function_throttled_for_good_ends_in_doubt_after_the_wait(ingestion: IngestionRun) -> None:
    ingestion.functions.side_effect.always(THROTTLED)

    run = ingestion.deliver(EVENT)

    assert run.states == [*PROCEEDS, *WAITED, *WRITTEN_OFF]
    assert ingestion.dead_letter_queue.reasons == ["in-doubt"]


def test_a_rejection_that_another_record_contradicts_dead_letters_nothing(ingestion: IngestionRun) -> None:
    """A late invocation of the same execution completed the record meanwhile."""
    ingestion.functions.side_effect.always(answer_lost(Rejected("already charged")))

    run = ingestion.deliver(EVENT)

    assert run.states == [*PROCEEDS, *SETTLED]
    assert ingestion.dead_letter_queue.letters == []
