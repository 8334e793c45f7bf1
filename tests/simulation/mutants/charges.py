"""Deliberate faults in the leased consumer."""

from contextlib import suppress

import pytest

from charges.consumer import Consumer
from charges.core_banking import CoreBanking
from charges.service import ChargeRecovery
from queues import dead_letter
from tests.simulation.mutants.batches import a_message_whose_handling_failed_is_swallowed
from tests.simulation.mutants.rewriting import Mutant, rewritten


def a_message_is_acknowledged_before_its_charge_is_done(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Consumer, "_settle", "return False", "return True")


def a_dead_letter_that_was_refused_counts_as_sent(patch: pytest.MonkeyPatch) -> None:
    send = dead_letter.send

    def careless(*args: object, **kwargs: object) -> None:
        with suppress(Exception):
            send(*args, **kwargs)  # type: ignore[arg-type]

    patch.setattr(dead_letter, "send", careless)


def a_lost_claim_is_acknowledged(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Consumer, "take", "        raise", "        return True")


def the_bank_is_given_a_key_for_each_attempt(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch, CoreBanking, "debit", "idempotency_key=charge.id", 'idempotency_key=f"{charge.id}-{attempt}"'
    )


def whatever_fails_did_nothing(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, ChargeRecovery, "_debit", "except NotApplied:", "except Exception:")


def a_charge_is_done_before_it_is_debited(patch: pytest.MonkeyPatch) -> None:
    debit = ChargeRecovery._debit

    def hasty(self: ChargeRecovery, charge: object, held: object, **rest: object) -> object:
        self._finish(charge, held, None, last_chance=False)  # type: ignore[arg-type]
        return debit(self, charge, held, **rest)  # type: ignore[arg-type]

    patch.setattr(ChargeRecovery, "_debit", hasty)


def an_unknown_debit_is_forwarded_before_it_is_marked(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        ChargeRecovery,
        "_unknown",
        "    try:\n        self.ledger.doubt(",
        '    return Dead(reason="in-doubt")\n    try:\n        self.ledger.doubt(',
    )


def an_unknown_debit_is_repeated_under_at_most_once(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, ChargeRecovery, "_unknown", "if repeatable and not last_chance:", "if not last_chance:")
    rewritten(
        patch,
        ChargeRecovery,
        "_debit",
        "        return self._unknown(held, last_chance=last_chance)",
        "        receipt = self.bank.debit(charge, attempt=held.attempt)",
    )


def a_duplicate_in_progress_is_acknowledged(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        ChargeRecovery,
        "recover",
        "return Wait(until=claim.record.lease_until + self.terms.margin)",
        "return Settled()",
    )


def a_message_that_waits_on_its_last_receive_is_forwarded(patch: pytest.MonkeyPatch) -> None:
    """While its own claim is in progress, if it has one."""
    rewritten(
        patch,
        ChargeRecovery,
        "_unknown",
        "if repeatable and not last_chance:",
        'if last_chance:\n        return Dead(reason="in-doubt")\n    if repeatable:',
    )


MUTANTS: list[Mutant] = [
    a_message_is_acknowledged_before_its_charge_is_done,
    a_message_whose_handling_failed_is_swallowed,
    a_dead_letter_that_was_refused_counts_as_sent,
    a_lost_claim_is_acknowledged,
    the_bank_is_given_a_key_for_each_attempt,
    whatever_fails_did_nothing,
    a_charge_is_done_before_it_is_debited,
    an_unknown_debit_is_forwarded_before_it_is_marked,
    an_unknown_debit_is_repeated_under_at_most_once,
    a_duplicate_in_progress_is_acknowledged,
    a_message_that_waits_on_its_last_receive_is_forwarded,
]
