"""The guard gives no answer, or one that nobody knows: nothing is caused, and its message is not lost."""

import pytest

from idempotency.model import State
from tests.statemachines.dead_letter_queue import REFUSED
from tests.statemachines.faults import CRASH, Play, TaskFailed, answer_lost, answers_instead, fails
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.messages import CHANGED_EVENT, EVENT
from tests.statemachines.paths import PROCEEDS, SETTLED, WAITED, WRITTEN_OFF

NEVER_CLAIMS, CLAIMS_UNHEARD = fails(CRASH), answer_lost()


@pytest.mark.parametrize("fault", [NEVER_CLAIMS, CLAIMS_UNHEARD], ids=["never claims", "claims unheard"])
def test_a_guard_that_fails_once_is_tried_again_and_proceeds(ingestion: IngestionRun, fault: Play) -> None:
    ingestion.functions.idempotency_guard.first(fault)

    run = ingestion.deliver(EVENT)

    assert run.states == PROCEEDS
    assert ingestion.clock.naps == [ingestion.settings.workflow.retry_interval_seconds]
    assert [event.attempt for event in ingestion.downstream.happened] == [1]
    assert ingestion.dead_letter_queue.letters == []


def test_a_guard_unheard_until_its_last_try_still_proceeds(ingestion: IngestionRun) -> None:
    retries = ingestion.settings.workflow.retry_attempts
    ingestion.functions.idempotency_guard.first(*[CLAIMS_UNHEARD] * retries)

    assert ingestion.deliver(EVENT).states == PROCEEDS
    assert len(ingestion.functions.calls("IdempotencyGuard")) == retries + 1
    assert len(ingestion.downstream.happened) == 1


@pytest.mark.parametrize("error", ["Lambda.Unknown", "States.Timeout", "ConditionalCheckFailed", "Contended"])
def test_a_guard_that_fails_for_good_dead_letters_its_message(ingestion: IngestionRun, error: str) -> None:
    ingestion.functions.idempotency_guard.always(fails(TaskFailed(error)))

    run = ingestion.deliver(EVENT)

    assert run.status == "SUCCEEDED"
    assert run.states == ["IdempotencyGuard", *WAITED, *WRITTEN_OFF]
    assert ingestion.clock.waits == [ingestion.settings.settle_seconds]
    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == ("guard-failed", EVENT)
    assert ingestion.downstream.asked == []
    assert ingestion.ledger.read(ingestion.key("E-1")) is None


def test_a_claim_whose_guard_fails_for_good_is_released_before_its_message_is_dead_lettered(
    ingestion: IngestionRun,
) -> None:
    ingestion.functions.idempotency_guard.always(CLAIMS_UNHEARD)

    ingestion.deliver(EVENT)

    record = ingestion.record("E-1")
    assert (record.state, record.unknown) == (State.RELEASED, False)
    assert ingestion.dead_letter_queue.reasons == ["guard-failed"]
    assert ingestion.downstream.asked == []


def test_the_tries_of_a_guard_are_spread_as_the_settings_say(ingestion: IngestionRun) -> None:
    ingestion.functions.idempotency_guard.always(NEVER_CLAIMS)

    ingestion.deliver(EVENT)

    workflow = ingestion.settings.workflow
    assert ingestion.clock.naps == [
        min(workflow.retry_interval_seconds * 2**n, workflow.retry_max_delay_seconds)
        for n in range(workflow.retry_attempts)
    ]


@pytest.mark.parametrize("reason", ["a-new-word", "", "claimed"])
def test_an_unknown_answer_of_the_guard_releases_the_claim_and_dead_letters_the_message(
    ingestion: IngestionRun, reason: str
) -> None:
    ingestion.functions.idempotency_guard.first(answers_instead(proceed=False, reason=reason))

    run = ingestion.deliver(EVENT)

    assert run.states == ["IdempotencyGuard", "ShouldProceed", *WRITTEN_OFF]
    assert ingestion.dead_letter_queue.reasons == ["guard-failed"]
    assert ingestion.downstream.asked == []
    assert ingestion.record("E-1").state is State.RELEASED


def test_an_unknown_answer_leaves_anothers_claim_alone(ingestion: IngestionRun) -> None:
    claim_as("another execution", ingestion)
    before = ingestion.record("E-1")
    ingestion.functions.idempotency_guard.first(answers_instead(reason="a-new-word"))

    run = ingestion.deliver(EVENT)

    assert run.states[-1] == "DeadLettered"
    assert ingestion.record("E-1") == before


def test_a_duplicate_whose_guard_fails_for_good_ends_where_its_event_is_done(ingestion: IngestionRun) -> None:
    ingestion.deliver(EVENT)
    ingestion.functions.idempotency_guard.always(NEVER_CLAIMS)

    run = ingestion.deliver(EVENT)

    assert run.states == ["IdempotencyGuard", *WAITED, *SETTLED]
    assert ingestion.dead_letter_queue.letters == []


@pytest.mark.parametrize("overrides", [{"fingerprint": "amount"}])
def test_other_content_whose_guard_fails_for_good_is_dead_lettered_although_its_key_is_done(
    ingestion: IngestionRun,
) -> None:
    ingestion.deliver(EVENT)
    ingestion.functions.idempotency_guard.always(NEVER_CLAIMS)

    ingestion.deliver(CHANGED_EVENT)

    assert [letter.body for letter in ingestion.dead_letter_queue.letters] == [CHANGED_EVENT]


def test_a_new_event_whose_guard_fails_for_good_is_dead_lettered_although_its_expired_key_was_done(
    ingestion: IngestionRun,
) -> None:
    ingestion.deliver(EVENT)
    ingestion.clock.advance(ingestion.settings.retention_seconds)  # TTL deletes late
    ingestion.functions.idempotency_guard.always(NEVER_CLAIMS)

    ingestion.deliver(EVENT)

    assert ingestion.dead_letter_queue.reasons == ["guard-failed"]


def test_a_message_whose_copy_was_refused_once_is_dead_lettered(ingestion: IngestionRun) -> None:
    ingestion.functions.idempotency_guard.always(NEVER_CLAIMS)
    ingestion.dead_letter_queue.first(REFUSED)

    assert ingestion.deliver(EVENT).status == "SUCCEEDED"
    assert ingestion.dead_letter_queue.reasons == ["guard-failed"]


def claim_as(owner: str, ingestion: IngestionRun) -> None:
    s = ingestion.settings
    ingestion.ledger.claim(
        ingestion.key("E-1"),
        owner=owner,
        now=ingestion.clock(),
        lease=s.lease_seconds,
        retention=s.retention_seconds,
    )
