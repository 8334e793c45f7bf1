"""Deliberate faults in the workflow around an effect: its functions, its definition, its Reconciler."""

from typing import Any

import pytest

from ingestion import idempotency_guard, intake, reconciler, record_failure, side_effect
from ingestion.reconciler import Reconciler
from ingestion.starter import Starter
from tests.simulation import ingestion_setting
from tests.simulation.mutants.batches import a_message_whose_handling_failed_is_swallowed
from tests.simulation.mutants.executions import an_end_is_marked_before_it_is_dealt_with
from tests.simulation.mutants.rewriting import Mutant, redefined, rewritten


def an_executions_name_leaves_the_message_out(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, intake, "read", '[key.sk, key.pk, record["messageId"]]', "[key.sk, key.pk]")


def whatever_step_functions_refuses_has_been_started(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        Starter,
        "_start",
        "except self._stepfunctions.exceptions.ExecutionAlreadyExists:",
        "except Exception:",
    )


def the_only_copy_is_skipped_while_its_event_is_in_progress(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, idempotency_guard, "_reason", "if returned and", "if False and")


def a_failed_event_is_skipped(patch: pytest.MonkeyPatch) -> None:
    def skip(definition: dict[str, Any]) -> None:
        definition["States"]["ShouldProceed"]["Choices"][2]["Next"] = "SkipDuplicate"

    redefined(patch, ingestion_setting, skip)


def the_claim_of_a_retried_effect_is_not_renewed(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, side_effect, "perform", "if retried or event", "if event")


def a_lost_claim_does_not_keep_from_the_effect(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        side_effect,
        "perform",
        "        ledger.renew(",
        "        with __import__('contextlib').suppress(LeaseLost): ledger.renew(",
    )


def a_redriven_effect_is_repeated_under_at_most_once(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, side_effect, "perform", "if redriven and", "if False and")


def the_downstream_is_given_a_key_for_each_attempt(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, side_effect, "perform", "Event(key=str(key)", 'Event(key=f"{key}#{attempt}"')


def a_record_is_completed_before_the_effect(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        side_effect,
        "perform",
        "        result = _caused(",
        "        ledger.complete(key, owner=owner, attempt=attempt, now=clock(), retention=terms.retention)\n"
        "        result = _caused(",
    )


def unknown_outcomes_are_retried_under_at_most_once(patch: pytest.MonkeyPatch) -> None:
    def retry(definition: dict[str, Any]) -> None:
        definition["States"]["SideEffect"]["Retry"] = [
            {"ErrorEquals": ["States.ALL"], "MaxAttempts": 2, "IntervalSeconds": 1}
        ]

    redefined(patch, ingestion_setting, retry)


def a_failure_is_recorded_while_invocations_may_go_on(patch: pytest.MonkeyPatch) -> None:
    def hurry(definition: dict[str, Any]) -> None:
        definition["States"]["LetInvocationsEnd"]["Seconds"] = 0

    redefined(patch, ingestion_setting, hurry)


def what_is_not_known_to_have_happened_is_released(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        record_failure,
        "_mark",
        'write = partial(ledger.doubt, reason="in-doubt")',
        'write = partial(ledger.release, retention=retention, reason="in-doubt")',
    )


def an_event_is_left_to_whoever_has_it_in_progress(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, record_failure, "_marked", "return STILL_IN_PROGRESS if", "return CLAIM_LOST if")


def a_guard_that_failed_keeps_its_claim(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, record_failure, "_without_claim", "if stored.owner == owner and", "if False and")


def a_failure_that_could_not_be_recorded_is_the_end_of_it(patch: pytest.MonkeyPatch) -> None:
    def catch(definition: dict[str, Any]) -> None:
        definition["States"]["RecordFailure"]["Catch"] = [
            {"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "AlreadySettled"}
        ]

    redefined(patch, ingestion_setting, catch)


def the_reconciler_leaves_claims_in_progress(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Reconciler, "_record", "if stored and", "if False and stored and")


def the_reconciler_takes_other_content_for_done(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, reconciler, "_reason", "if conflicts(", "if False and conflicts(")


MUTANTS: list[Mutant] = [
    a_message_whose_handling_failed_is_swallowed,
    an_executions_name_leaves_the_message_out,
    whatever_step_functions_refuses_has_been_started,
    the_only_copy_is_skipped_while_its_event_is_in_progress,
    a_failed_event_is_skipped,
    the_claim_of_a_retried_effect_is_not_renewed,
    a_lost_claim_does_not_keep_from_the_effect,
    a_redriven_effect_is_repeated_under_at_most_once,
    the_downstream_is_given_a_key_for_each_attempt,
    a_record_is_completed_before_the_effect,
    unknown_outcomes_are_retried_under_at_most_once,
    a_failure_is_recorded_while_invocations_may_go_on,
    what_is_not_known_to_have_happened_is_released,
    an_event_is_left_to_whoever_has_it_in_progress,
    a_guard_that_failed_keeps_its_claim,
    a_failure_that_could_not_be_recorded_is_the_end_of_it,
    an_end_is_marked_before_it_is_dealt_with,
    the_reconciler_leaves_claims_in_progress,
    the_reconciler_takes_other_content_for_done,
]
