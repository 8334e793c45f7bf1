"""The failure branch fails itself: what fails once is tried again, what fails for good is not hidden."""

import json

import pytest

from idempotency.errors import Rejected
from idempotency.model import State
from ingestion import intake
from tests.statemachines.dead_letter_queue import REFUSED, SENT_UNHEARD
from tests.statemachines.faults import CRASH, Play, TaskFailed, answer_lost, fails
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.messages import EVENT
from tests.statemachines.paths import PROCEEDS, WAITED, WRITTEN_OFF

FAILURES = {
    "rejected": (fails(Rejected("no such account")), [*PROCEEDS, *WRITTEN_OFF]),
    "in-doubt": (fails(CRASH), [*PROCEEDS, *WAITED, *WRITTEN_OFF]),
}
failures = pytest.mark.parametrize("reason", FAILURES)


@failures
@pytest.mark.parametrize("fault", [fails(CRASH), answer_lost()], ids=["does nothing", "unheard"])
def test_a_recorder_that_fails_once_is_tried_again(ingestion: IngestionRun, fault: Play, reason: str) -> None:
    cause, states = FAILURES[reason]
    ingestion.downstream.always(cause)
    ingestion.functions.record_failure.first(fault)

    assert ingestion.deliver(EVENT).states == states
    assert len(ingestion.functions.calls("RecordFailure")) == 2
    assert ingestion.dead_letter_queue.reasons == [reason]


@failures
@pytest.mark.parametrize("error", ["Lambda.Unknown", "States.Timeout", "LeaseLost", "NotApplied"])
def test_a_recorder_that_fails_for_good_fails_the_execution(
    ingestion: IngestionRun, error: str, reason: str
) -> None:
    ingestion.downstream.always(FAILURES[reason][0])
    ingestion.functions.record_failure.always(fails(TaskFailed(error)))

    run = ingestion.deliver(EVENT)

    assert (run.status, run.error) == ("FAILED", error)
    assert run.states[-1] == "RecordFailure"
    tries = 1 + ingestion.settings.workflow.retry_attempts
    assert len(ingestion.functions.calls("RecordFailure")) == tries
    assert ingestion.dead_letter_queue.letters == []
    assert ingestion.record("E-1").state is State.IN_PROGRESS


@failures
def test_a_copy_that_is_refused_once_is_sent_again(ingestion: IngestionRun, reason: str) -> None:
    cause, states = FAILURES[reason]
    ingestion.downstream.always(cause)
    ingestion.dead_letter_queue.first(REFUSED)

    assert ingestion.deliver(EVENT).states == states
    assert ingestion.dead_letter_queue.reasons == [reason]


def test_a_copy_sent_unheard_is_sent_twice_rather_than_not_at_all(ingestion: IngestionRun) -> None:
    ingestion.downstream.always(fails(Rejected("no such account")))
    ingestion.dead_letter_queue.first(SENT_UNHEARD)

    assert ingestion.deliver(EVENT).status == "SUCCEEDED"
    assert [letter.body for letter in ingestion.dead_letter_queue.letters] == [EVENT, EVENT]


def test_a_reason_that_the_input_brings_along_gives_way_to_the_true_one(ingestion: IngestionRun) -> None:
    ingestion.downstream.always(fails(Rejected("no such account")))
    start = ingestion.read(EVENT)
    assert isinstance(start, intake.Start)
    delivery = json.loads(start.input)
    delivery["attributes"]["reason"] = {"DataType": "String", "StringValue": "an older one"}

    ingestion.machine.finish(ingestion.machine.start(start.name, json.dumps(delivery)))

    assert ingestion.dead_letter_queue.reasons == ["rejected"]


@failures
def test_a_copy_that_is_refused_for_good_fails_the_execution(ingestion: IngestionRun, reason: str) -> None:
    ingestion.downstream.always(FAILURES[reason][0])
    ingestion.dead_letter_queue.always(REFUSED)

    run = ingestion.deliver(EVENT)

    assert (run.status, run.states[-1]) == ("FAILED", "DeadLetter")
    assert len(ingestion.clock.naps) >= ingestion.settings.workflow.retry_attempts
    assert ingestion.dead_letter_queue.letters == []
    assert ingestion.record("E-1").state is not State.IN_PROGRESS
