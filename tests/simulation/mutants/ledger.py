"""Deliberate faults in the ledger on DynamoDB, which ingestion and charges share."""

import pytest

from charges import service
from idempotency import ledger, transitions
from idempotency.adapters import dynamodb
from idempotency.adapters.dynamodb import _Write
from ingestion import idempotency_guard
from tests.simulation.mutants.rewriting import Mutant, rewritten

_OWNER = "#owner = :owner AND attempt = :attempt AND "


def a_completion_is_anybodys(patch: pytest.MonkeyPatch) -> None:
    _condition(patch, "complete", _OWNER, "")


def a_failure_is_anybodys(patch: pytest.MonkeyPatch) -> None:
    _condition(patch, "fail", _OWNER, "")


def a_doubt_is_anybodys(patch: pytest.MonkeyPatch) -> None:
    _condition(patch, "doubt", _OWNER, "")


def a_release_is_anybodys(patch: pytest.MonkeyPatch) -> None:
    _condition(patch, "release", _OWNER, "")


def a_renewal_is_anybodys(patch: pytest.MonkeyPatch) -> None:
    for name in ("renew", "renew-retried"):
        _condition(patch, name, _OWNER, "")


def what_is_done_can_still_fail(patch: pytest.MonkeyPatch) -> None:
    _condition(patch, "fail", " AND (#state = :in_progress OR #state = :in_doubt)", "")


def doubt_is_left_to_expire(patch: pytest.MonkeyPatch) -> None:
    _update(patch, "doubt", " REMOVE expiresAt", "")


def a_release_begins_the_attempts_anew(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(dynamodb._CONSTANTS, ":zero", {"N": "0"})
    _update(patch, "release", ", unsettled", ", attempt = :zero, unsettled")


def an_outcome_that_nobody_knows_does_not_stick(patch: pytest.MonkeyPatch) -> None:
    _claims(patch, "#unknown = if_not_exists(unsettled, :false)", "#unknown = :false")


def a_released_record_forgets_that_an_outcome_was_unknown(patch: pytest.MonkeyPatch) -> None:
    _update(patch, "release", "unsettled = #unknown", "unsettled = :false")


def a_lease_is_taken_over_while_it_lasts(patch: pytest.MonkeyPatch) -> None:
    _claims(patch, "(#state = :in_progress AND leaseUntil <= :taken_over)", "#state = :in_progress")


def a_lease_is_taken_over_without_the_margin(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, dynamodb.DynamoDBLedger, "claim", "now - self.policy.margin", "now")


def a_lease_is_taken_over_under_at_most_once(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        transitions,
        "_judge",
        "repeatable = policy.semantics is Semantics.IDEMPOTENT_DOWNSTREAM",
        "repeatable = True",
    )


def what_is_done_is_claimed_again(patch: pytest.MonkeyPatch) -> None:
    _claims(patch, '["#state = :released"]', '["#state = :released", "#state = :done"]')


def an_expired_record_stands_until_ttl_deletes_it(patch: pytest.MonkeyPatch) -> None:
    _claims(patch, "({expired}) OR ", "")
    rewritten(
        patch,
        transitions,
        "claim",
        "gone = stored is None or expired(stored.expires_at, now)",
        "gone = stored is None",
    )


def ones_own_claim_is_taken_for_anothers(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        transitions,
        "_judge",
        "Verdict.STILL_MINE if mine else Verdict.IN_PROGRESS",
        "Verdict.IN_PROGRESS",
    )


def any_claim_in_progress_is_taken_for_ones_own(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        transitions,
        "_judge",
        "Verdict.STILL_MINE if mine else Verdict.IN_PROGRESS",
        "Verdict.STILL_MINE",
    )


def content_is_compared_only_when_a_claim_is_acquired(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        transitions,
        "_judge",
        "if conflicts(stored, owner=owner, fingerprint=fingerprint):",
        "if False:",
    )


def an_abandoned_claim_is_reported_without_being_marked(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, ledger, "claim_or_doubt", "abandoned.state is State.IN_DOUBT", "True")
    for module in (service, idempotency_guard):
        patch.setattr(module, "claim_or_doubt", ledger.claim_or_doubt)


MUTANTS: list[Mutant] = [
    a_completion_is_anybodys,
    a_failure_is_anybodys,
    a_doubt_is_anybodys,
    a_release_is_anybodys,
    a_renewal_is_anybodys,
    what_is_done_can_still_fail,
    doubt_is_left_to_expire,
    a_release_begins_the_attempts_anew,
    an_outcome_that_nobody_knows_does_not_stick,
    a_released_record_forgets_that_an_outcome_was_unknown,
    a_lease_is_taken_over_while_it_lasts,
    a_lease_is_taken_over_without_the_margin,
    a_lease_is_taken_over_under_at_most_once,
    what_is_done_is_claimed_again,
    an_expired_record_stands_until_ttl_deletes_it,
    ones_own_claim_is_taken_for_anothers,
    any_claim_in_progress_is_taken_for_ones_own,
    content_is_compared_only_when_a_claim_is_acquired,
    an_abandoned_claim_is_reported_without_being_marked,
]


def _condition(patch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    _replaced(patch, name, "condition", old, new)


def _update(patch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    _replaced(patch, name, "update", old, new)


def _replaced(patch: pytest.MonkeyPatch, name: str, part: str, old: str, new: str) -> None:
    write = dynamodb._WRITES[name]
    parts = {"update": write.update, "condition": write.condition}
    assert old in parts[part], f"{name} has changed: {old!r} is not in it"
    parts[part] = parts[part].replace(old, new)
    patch.setitem(dynamodb._WRITES, name, _Write.of(**parts))


def _claims(patch: pytest.MonkeyPatch, old: str, new: str) -> None:
    rewritten(patch, dynamodb, "_claim_write", old, new)
