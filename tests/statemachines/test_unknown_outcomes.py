"""The effect may have happened, and nobody knows: doubted under one semantics, repeated under the other."""

from collections.abc import Callable

import pytest

from idempotency.errors import OutcomeUnknown
from idempotency.model import State
from tests.statemachines.clock import START
from tests.statemachines.faults import CRASH, Play, TaskFailed, answer_lost, fails
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.marks import at_most_once, idempotent_downstream
from tests.statemachines.messages import EVENT
from tests.statemachines.paths import PROCEEDS, SETTLED, WAITED, WRITTEN_OFF

# A crash or a timeout has another name on AWS, in the sandbox and in whatever comes next.
UNKNOWN = [
    TaskFailed("Lambda.Unknown"),
    TaskFailed("Sandbox.Timedout"),
    TaskFailed("Runtime.ExitError"),
    TaskFailed("States.Timeout"),
    TaskFailed("Lambda.ServiceException"),
    TaskFailed("NeverHeardOf"),
    ConnectionResetError("by peer"),
    OutcomeUnknown("HTTP 500"),
]
unknown_outcomes = pytest.mark.parametrize("error", UNKNOWN, ids=str)
happened_or_not = pytest.mark.parametrize("outcome", [fails, answer_lost], ids=["not happened", "happened"])


@at_most_once
@unknown_outcomes
def test_at_most_once_never_repeats_an_unknown_outcome(ingestion: IngestionRun, error: Exception) -> None:
    ingestion.downstream.always(answer_lost(error))

    run = ingestion.deliver(EVENT)

    assert run.status == "SUCCEEDED"
    assert run.states == [*PROCEEDS, *WAITED, *WRITTEN_OFF]
    assert len(ingestion.downstream.asked) == 1
    assert ingestion.clock.naps == []
    assert ingestion.clock.waits == [ingestion.settings.settle_seconds]
    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == ("in-doubt", EVENT)
    record = ingestion.record("E-1")
    assert (record.state, record.expires_at) == (State.IN_DOUBT, None)


@idempotent_downstream
@unknown_outcomes
def test_an_idempotent_downstream_is_asked_again_with_the_same_key(
    ingestion: IngestionRun, error: Exception
) -> None:
    ingestion.downstream.first(answer_lost(error))

    run = ingestion.deliver(EVENT)

    assert run.states == PROCEEDS
    asked = [(event.key, event.attempt) for event in ingestion.downstream.asked]
    assert asked == [("ingestion/event:E-1", 1)] * 2
    assert [call["retryCount"] for call in ingestion.functions.calls("SideEffect")] == [0, 1]
    assert ingestion.dead_letter_queue.letters == []
    record = ingestion.record("E-1")
    assert (record.state, record.unknown) == (State.DONE, True)
    assert record.lease_until == START + sum(ingestion.clock.naps) + ingestion.settings.lease_seconds


@idempotent_downstream
@happened_or_not
def test_an_outcome_that_stays_unknown_ends_in_doubt_after_the_wait(
    ingestion: IngestionRun, outcome: Callable[[Exception], Play]
) -> None:
    ingestion.downstream.always(outcome(CRASH))

    run = ingestion.deliver(EVENT)

    assert run.states == [*PROCEEDS, *WAITED, *WRITTEN_OFF]
    assert len(ingestion.downstream.asked) == 1 + ingestion.settings.workflow.retry_attempts
    assert ingestion.clock.waits == [ingestion.settings.settle_seconds]
    assert ingestion.dead_letter_queue.reasons == ["in-doubt"]


@idempotent_downstream
@unknown_outcomes
def test_a_retry_finds_its_event_done_where_only_the_answer_was_lost(
    ingestion: IngestionRun, error: Exception
) -> None:
    ingestion.functions.side_effect.first(answer_lost(error))

    assert ingestion.deliver(EVENT).states == PROCEEDS
    assert len(ingestion.downstream.asked) == 1
    assert ingestion.record("E-1").state is State.DONE


@unknown_outcomes
def test_an_effect_done_whose_answer_is_lost_counts_as_done(
    ingestion: IngestionRun, error: Exception
) -> None:
    ingestion.functions.side_effect.always(answer_lost(error))

    run = ingestion.deliver(EVENT)

    assert run.status == "SUCCEEDED"
    assert run.states == [*PROCEEDS, *WAITED, *SETTLED]
    assert len(ingestion.downstream.happened) == 1
    assert ingestion.dead_letter_queue.letters == []
    assert ingestion.record("E-1").state is State.DONE
