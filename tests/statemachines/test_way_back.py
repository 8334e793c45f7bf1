"""A dead letter sent back to the work queue: it ends as done, or as a dead letter with its reason again."""

import pytest

from idempotency.errors import NotApplied, Rejected
from idempotency.model import State
from ingestion import intake
from tests.statemachines.executions import Run
from tests.statemachines.faults import CRASH, Gate, Play, after, fails, works
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.marks import at_most_once, idempotent_downstream
from tests.statemachines.messages import EVENT, SENT_AT, DeadLetter, message, redriven
from tests.statemachines.paths import DEAD_LETTERED, PROCEEDS

REJECTS = fails(Rejected("no such account"))


def test_an_event_that_was_not_applied_is_done_on_its_way_back(ingestion: IngestionRun) -> None:
    letter = dead_lettered(ingestion, fails(NotApplied("connection refused")))

    assert ingestion.deliver(redriven(letter)).states == PROCEEDS
    assert len(ingestion.downstream.happened) == 1


def test_an_event_whose_guard_failed_is_done_on_its_way_back(ingestion: IngestionRun) -> None:
    ingestion.functions.idempotency_guard.always(fails(CRASH))
    ingestion.deliver(EVENT)
    ingestion.functions.idempotency_guard.always(works)
    [letter] = ingestion.dead_letter_queue.letters

    assert ingestion.deliver(redriven(letter)).states == PROCEEDS


def test_a_rejected_event_comes_back_as_failed_and_keeps_its_attributes(ingestion: IngestionRun) -> None:
    letter = dead_lettered(ingestion, REJECTS)

    ingestion.deliver(redriven(letter))

    again = ingestion.dead_letter_queue.letters[-1]
    assert again.body == EVENT
    assert again.attributes == {"firstSeenAt": SENT_AT, "reason": "failed"}
    assert ingestion.downstream.happened == []


@pytest.mark.parametrize("overrides", [{"on_failed_duplicate": "retry"}])
def test_a_rejected_event_is_done_on_its_way_back_where_the_settings_allow(ingestion: IngestionRun) -> None:
    letter = dead_lettered(ingestion, REJECTS)

    assert ingestion.deliver(redriven(letter)).states == PROCEEDS
    assert len(ingestion.downstream.happened) == 1


@at_most_once
def test_an_event_in_doubt_comes_back_in_doubt(ingestion: IngestionRun) -> None:
    letter = dead_lettered(ingestion, fails(CRASH))

    ingestion.deliver(redriven(letter))

    assert ingestion.dead_letter_queue.reasons == ["in-doubt", "in-doubt"]
    assert len(ingestion.downstream.asked) == 1


@idempotent_downstream
def test_an_event_in_doubt_is_repeated_with_its_key_on_its_way_back(ingestion: IngestionRun) -> None:
    letter = dead_lettered(ingestion, fails(CRASH))

    assert ingestion.deliver(redriven(letter)).states == PROCEEDS
    assert ingestion.downstream.happened[0].attempt == 2


def test_the_reconcilers_copy_is_done_on_its_way_back(ingestion: IngestionRun) -> None:
    gate = Gate()
    ingestion.functions.idempotency_guard.first(after(gate, fails(CRASH)))
    execution = ingestion.begin(message(EVENT, traceId="t-1"))
    gate.wait_until_reached()
    ingestion.machine.stop(execution)
    gate.open()
    ingestion.machine.finish(execution)
    ingestion.reconcile()
    [letter] = ingestion.dead_letter_queue.letters
    assert letter.attributes == {"firstSeenAt": SENT_AT, "reason": "unfinished", "traceId": "t-1"}

    assert ingestion.deliver(redriven(letter)).states == PROCEEDS


@pytest.mark.parametrize("overrides", [{"missing_key": "message-id"}])
def test_an_event_known_by_its_first_message_id_keeps_its_record_on_its_way_back(
    ingestion: IngestionRun,
) -> None:
    delivery = message('{"note": "no key"}')
    ingestion.downstream.first(REJECTS)
    ingestion.deliver(delivery)
    [letter] = ingestion.dead_letter_queue.letters
    assert letter.attributes["eventKey"] == delivery["messageId"]

    start = ingestion.read(redriven(letter))

    assert isinstance(start, intake.Start)
    record = ingestion.ledger.read(start.key)
    assert record is not None
    assert record.state is State.FAILED


def test_a_letter_sent_back_while_its_event_is_in_progress_is_not_skipped(ingestion: IngestionRun) -> None:
    """It may be the event's only copy: nobody need be at work under that claim."""
    letter = dead_lettered(ingestion, fails(NotApplied("connection refused")))
    returned: list[Run] = []
    ingestion.downstream.first(after(lambda: returned.append(ingestion.deliver(redriven(letter)))))

    ingestion.deliver(EVENT)

    assert returned[0].states == DEAD_LETTERED
    assert ingestion.dead_letter_queue.reasons == ["not-applied", "still-in-progress"]
    assert len(ingestion.downstream.happened) == 1


def test_a_letter_sent_back_twice_is_done_once(ingestion: IngestionRun) -> None:
    letter = dead_lettered(ingestion, fails(NotApplied("connection refused")))

    ingestion.deliver(redriven(letter))
    again = ingestion.deliver(redriven(letter))

    assert again.output == {"skipped": True, "reason": "done"}
    assert len(ingestion.downstream.happened) == 1


def dead_lettered(ingestion: IngestionRun, fault: Play) -> DeadLetter:
    ingestion.downstream.always(fault)
    ingestion.deliver(EVENT)
    ingestion.downstream.always(works)
    [letter] = ingestion.dead_letter_queue.letters
    return letter
