"""A new event: claimed, caused once, remembered, in three states."""

import json

import pytest

from idempotency.model import Key, State
from tests.statemachines.clock import START
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.messages import EVENT, message
from tests.statemachines.paths import PROCEEDS


def test_a_new_event_takes_three_states_and_causes_its_effect_once(ingestion: IngestionRun) -> None:
    run = ingestion.deliver(EVENT)

    assert run.status == "SUCCEEDED"
    assert run.states == PROCEEDS
    assert run.output == {"reason": "done"}
    assert len(ingestion.downstream.happened) == 1
    assert ingestion.dead_letter_queue.letters == []
    assert ingestion.clock.waits == ingestion.clock.naps == []


def test_the_record_of_a_new_event_is_done_under_its_execution(ingestion: IngestionRun) -> None:
    run = ingestion.deliver(EVENT)

    record = ingestion.record("E-1")
    assert (record.state, record.owner, record.attempt) == (State.DONE, run.arn, 1)
    assert record.expires_at == START + ingestion.settings.retention_seconds
    assert json.loads(record.result or "") == {"happened": 1}
    assert not record.unknown


def test_the_effect_is_given_the_events_key_its_attempt_and_its_verbatim_body(
    ingestion: IngestionRun,
) -> None:
    delivery = message(EVENT)

    ingestion.deliver(delivery)

    [event] = ingestion.downstream.asked
    assert event.key == "ingestion/event:E-1"
    assert event.attempt == 1
    assert event.message_id == delivery["messageId"]
    assert event.body == EVENT


def test_the_guard_is_given_the_retention_of_the_settings_as_a_number(ingestion: IngestionRun) -> None:
    ingestion.deliver(EVENT)

    [payload] = ingestion.functions.calls("IdempotencyGuard")
    assert payload["retentionSeconds"] == ingestion.settings.retention_seconds
    assert payload["namespace"] == ingestion.settings.namespace


@pytest.mark.parametrize("overrides", [{"namespace": "billing"}])
def test_the_record_stands_in_the_namespace_of_the_settings(ingestion: IngestionRun) -> None:
    ingestion.deliver(EVENT)

    assert ingestion.record("E-1").key == Key(pk="event:E-1", sk="billing")
    assert [event.key for event in ingestion.downstream.happened] == ["billing/event:E-1"]


def test_another_event_is_none_of_its_business(ingestion: IngestionRun) -> None:
    ingestion.deliver(EVENT)

    assert ingestion.deliver('{"eventId": "E-2"}').states == PROCEEDS
    assert [event.key for event in ingestion.downstream.happened] == [
        "ingestion/event:E-1",
        "ingestion/event:E-2",
    ]
