"""A second delivery of an event: skipped where the first one settles it, dead-lettered where nobody does."""

import pytest

from idempotency.errors import NotApplied, Rejected
from idempotency.model import State
from tests.statemachines.executions import Run
from tests.statemachines.faults import CRASH, after, fails
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.marks import at_most_once, idempotent_downstream
from tests.statemachines.messages import CHANGED_EVENT, EVENT, SENT_AT, message
from tests.statemachines.paths import DEAD_LETTERED, PROCEEDS, SKIPPED


def test_a_duplicate_of_a_done_event_is_skipped_for_the_true_reason(ingestion: IngestionRun) -> None:
    ingestion.deliver(EVENT)
    done = ingestion.record("E-1")

    run = ingestion.deliver(EVENT)

    assert run.states == SKIPPED
    assert run.output == {"skipped": True, "reason": "done"}
    assert ingestion.record("E-1") == done
    assert len(ingestion.downstream.happened) == 1
    assert ingestion.dead_letter_queue.letters == []


def test_a_duplicate_of_an_event_in_progress_is_skipped_for_the_true_reason(ingestion: IngestionRun) -> None:
    duplicates: list[Run] = []
    ingestion.downstream.first(after(lambda: duplicates.append(ingestion.deliver(EVENT))))

    first = ingestion.deliver(EVENT)

    [duplicate] = duplicates
    assert duplicate.states == SKIPPED
    assert duplicate.output == {"skipped": True, "reason": "in-progress"}
    assert first.states == PROCEEDS
    assert len(ingestion.downstream.happened) == 1
    assert ingestion.dead_letter_queue.letters == []


def test_a_duplicate_of_a_failed_event_is_dead_lettered_again(ingestion: IngestionRun) -> None:
    ingestion.downstream.first(fails(Rejected("no such account")))
    ingestion.deliver(EVENT)

    run = ingestion.deliver(EVENT)

    assert run.status == "SUCCEEDED"
    assert run.states == DEAD_LETTERED
    assert ingestion.dead_letter_queue.reasons == ["rejected", "failed"]
    assert ingestion.downstream.happened == []


@pytest.mark.parametrize("overrides", [{"on_failed_duplicate": "retry"}])
def test_a_duplicate_of_a_failed_event_tries_again_where_the_settings_say_so(ingestion: IngestionRun) -> None:
    ingestion.downstream.first(fails(Rejected("no such account")))
    ingestion.deliver(EVENT)

    assert ingestion.deliver(EVENT).states == PROCEEDS
    assert [event.attempt for event in ingestion.downstream.happened] == [2]


@at_most_once
def test_a_duplicate_of_an_event_in_doubt_is_dead_lettered(ingestion: IngestionRun) -> None:
    ingestion.downstream.first(fails(CRASH))
    ingestion.deliver(EVENT)

    run = ingestion.deliver(EVENT)

    assert run.states == DEAD_LETTERED
    assert ingestion.dead_letter_queue.reasons == ["in-doubt", "in-doubt"]
    assert ingestion.downstream.happened == []


@idempotent_downstream
def test_a_duplicate_of_an_event_in_doubt_repeats_it_under_the_same_key(ingestion: IngestionRun) -> None:
    ingestion.downstream.always(fails(CRASH))
    ingestion.deliver(EVENT)
    ingestion.downstream.always(lambda work: work())

    assert ingestion.deliver(EVENT).states == PROCEEDS
    assert {event.key for event in ingestion.downstream.asked} == {"ingestion/event:E-1"}
    assert ingestion.downstream.asked[-1].attempt == 2


@at_most_once
def test_a_claim_that_its_owner_abandoned_becomes_in_doubt_before_its_duplicate_is_dead_lettered(
    ingestion: IngestionRun,
) -> None:
    abandon(ingestion)

    run = ingestion.deliver(EVENT)

    assert run.states == DEAD_LETTERED
    assert ingestion.dead_letter_queue.reasons == ["in-doubt"]
    record = ingestion.record("E-1")
    assert (record.state, record.owner) == (State.IN_DOUBT, "nobody any more")


@idempotent_downstream
def test_a_claim_that_its_owner_abandoned_is_taken_over(ingestion: IngestionRun) -> None:
    abandon(ingestion)

    assert ingestion.deliver(EVENT).states == PROCEEDS
    assert [event.attempt for event in ingestion.downstream.happened] == [2]
    record = ingestion.record("E-1")
    assert record.unknown


def test_a_released_event_is_claimed_anew(ingestion: IngestionRun) -> None:
    ingestion.downstream.always(fails(NotApplied("connection refused")))
    ingestion.deliver(EVENT)
    ingestion.downstream.always(lambda work: work())

    assert ingestion.deliver(EVENT).states == PROCEEDS
    assert [event.attempt for event in ingestion.downstream.happened] == [2]


def test_after_its_retention_the_same_key_is_a_new_event(ingestion: IngestionRun) -> None:
    ingestion.deliver(EVENT)
    ingestion.clock.advance(ingestion.settings.retention_seconds)

    assert ingestion.deliver(EVENT).states == PROCEEDS
    assert len(ingestion.downstream.happened) == 2


@pytest.mark.parametrize("overrides", [{"fingerprint": "amount"}])
def test_other_content_under_the_same_key_is_dead_lettered(ingestion: IngestionRun) -> None:
    ingestion.deliver(EVENT)

    run = ingestion.deliver(CHANGED_EVENT)

    assert run.states == DEAD_LETTERED
    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == ("mismatch", CHANGED_EVENT)
    assert len(ingestion.downstream.happened) == 1


@pytest.mark.parametrize("overrides", [{"fingerprint": "amount"}])
def test_the_same_content_under_the_same_key_is_a_duplicate(ingestion: IngestionRun) -> None:
    ingestion.deliver(EVENT)

    assert ingestion.deliver(EVENT.replace("Zoë", "Chloë")).states == SKIPPED


def test_a_dead_letter_is_the_verbatim_body_with_its_attributes_and_its_reason(
    ingestion: IngestionRun,
) -> None:
    ingestion.downstream.first(fails(Rejected("no such account")))
    ingestion.deliver(EVENT)

    ingestion.deliver(message(EVENT, traceId="t-1", firstSeenAt="17", reason="an older one"))

    letter = ingestion.dead_letter_queue.letters[-1]
    assert letter.body == EVENT
    assert letter.attributes == {"traceId": "t-1", "firstSeenAt": "17", "reason": "failed"}


def test_the_first_dead_letter_of_a_message_says_when_it_was_first_seen(ingestion: IngestionRun) -> None:
    ingestion.downstream.first(fails(Rejected("no such account")))

    ingestion.deliver(EVENT)

    [letter] = ingestion.dead_letter_queue.letters
    assert letter.attributes == {"firstSeenAt": SENT_AT, "reason": "rejected"}
    assert letter.body == EVENT


def abandon(ingestion: IngestionRun) -> None:
    s = ingestion.settings
    ingestion.ledger.claim(
        ingestion.key("E-1"),
        owner="nobody any more",
        now=ingestion.clock(),
        lease=s.lease_seconds,
        retention=s.retention_seconds,
    )
    ingestion.clock.advance(s.lease_seconds + s.margin_seconds)
