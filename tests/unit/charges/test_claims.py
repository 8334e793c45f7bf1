"""What each answer to a claim means for the message, and that only a held claim debits."""

from typing import Any

import pytest

from charges.model import ChargeStatus
from charges.service import Dead, Settled, Wait
from idempotency.errors import Contended, LeaseLost, OutcomeUnknown, Rejected
from idempotency.model import Key, Record, Semantics, State
from tests.unit.charges.charges import charge
from tests.unit.charges.desk import CHARGE, KEY, LEASE, NOW, RETENTION, TAKEOVER, Desk, policy
from tests.unit.charges.ports import FailingLedger, StoreDown

DEBITED = Settled(status=ChargeStatus.DEBITED)


def test_a_new_charge_is_claimed_debited_notified_and_done_in_this_order(desk: Desk) -> None:
    assert desk.recover() == DEBITED
    assert desk.steps == ["claim", "debit", "notify", "complete"]
    assert (desk.bank.debits, desk.customers.told) == ([("CHG-1", 1)], [("CHG-1", 1)])
    assert (desk.record.state, desk.record.owner) == (State.DONE, "delivery-1")
    assert desk.record.fingerprint == CHARGE.fingerprint
    assert desk.record.expires_at == NOW + RETENTION


def test_the_lease_begins_with_the_claim(desk: Desk) -> None:
    """Seen while the debit is under way."""
    leases = []
    desk.bank.meanwhile = lambda: leases.append((desk.record.state, desk.record.lease_until))
    desk.recover()
    assert leases == [(State.IN_PROGRESS, NOW + LEASE)]


def test_the_record_keeps_status_and_receipt(desk: Desk) -> None:
    desk.recover()
    assert desk.record.result == '{"status":"DEBITED","receipt":{"status":200,"body":"booked"}}'


def test_a_duplicate_of_what_is_done_is_settled_without_a_debit(desk: Desk) -> None:
    desk.recover()
    before = desk.record
    desk.now = TAKEOVER + 5
    assert desk.recover() == Settled(status=None)
    assert (len(desk.bank.debits), desk.record) == (1, before)


@pytest.mark.parametrize("amount", ["25", "25.0", "25.000"])
def test_another_form_of_the_amount_is_a_duplicate_not_a_mismatch(amount: str, desk: Desk) -> None:
    desk.recover()
    assert desk.recover(charge(amount=amount)) == Settled(status=None)


def test_after_its_retention_the_same_id_is_a_new_charge(desk: Desk) -> None:
    desk.recover()
    desk.now = NOW + RETENTION - 1
    assert desk.recover() == Settled(status=None)
    desk.now = NOW + RETENTION
    assert desk.recover() == DEBITED
    assert desk.bank.debits == [("CHG-1", 1), ("CHG-1", 2)]


@pytest.mark.parametrize("last_chance", [False, True])
@pytest.mark.parametrize("at", [NOW, NOW + LEASE, TAKEOVER - 1])
def test_while_another_may_be_at_it_the_message_waits_for_the_first_second_of_a_takeover(
    at: int, last_chance: bool, desk: Desk
) -> None:
    before = desk.claim_of_another()
    desk.now = at
    assert desk.recover(last_chance=last_chance) == Wait(until=NOW + LEASE + 10)
    assert (desk.bank.debits, desk.record) == ([], before)


def test_one_that_waited_until_then_takes_over_with_the_next_attempt(repeatable: Desk) -> None:
    repeatable.claim_of_another()
    waiting = repeatable.recover()
    assert isinstance(waiting, Wait)
    repeatable.now = waiting.until
    assert repeatable.recover() == DEBITED
    assert (repeatable.bank.debits, repeatable.customers.told) == ([("CHG-1", 2)], [("CHG-1", 2)])
    assert (repeatable.record.owner, repeatable.record.unknown) == ("delivery-2", True)


def test_at_most_once_nobody_takes_over_it_is_marked_in_doubt_before_it_is_dead(once: Desk) -> None:
    once.claim_of_another()
    once.now = TAKEOVER
    assert once.recover() == Dead(reason="in-doubt")
    assert once.steps == ["claim", "claim", "doubt"]
    assert (once.record.state, once.record.reason) == (State.IN_DOUBT, "lease-expired")
    assert (once.record.owner, once.record.expires_at, once.bank.debits) == ("another", None, [])


def test_what_cannot_be_marked_in_doubt_is_not_dead(once: Desk) -> None:
    once.claim_of_another()
    once.now, once.memory.down = TAKEOVER, {"doubt": "not written"}
    with pytest.raises(StoreDown):
        once.recover()


def test_at_most_once_a_charge_in_doubt_stays_so(once: Desk) -> None:
    once.bank.raises = OutcomeUnknown()
    once.recover()
    before = once.record
    once.now = TAKEOVER + 1_000
    assert once.recover() == Dead(reason="in-doubt")
    assert (len(once.bank.debits), once.record) == (1, before)


def test_where_debits_are_repeated_a_charge_in_doubt_is_debited_again_under_its_key(repeatable: Desk) -> None:
    """What a redrive from the dead-letter queue finds."""
    repeatable.bank.raises = OutcomeUnknown()
    assert repeatable.recover(last_chance=True) == Dead(reason="in-doubt")
    repeatable.bank.raises = None
    assert repeatable.recover() == DEBITED
    assert repeatable.bank.debits == [("CHG-1", 1), ("CHG-1", 2)]


def test_a_duplicate_of_what_failed_is_dead(desk: Desk) -> None:
    desk.bank.raises = Rejected()
    desk.recover()
    before = desk.record
    assert desk.recover() == Dead(reason="failed")
    assert (len(desk.bank.debits), desk.record) == (1, before)


OTHERS = {
    "amount": charge(amount="25.01"),
    "account": charge(account_id="ACC-8"),
    "currency": charge(currency="USD"),
    "type": charge(type="late-fee"),
}


@pytest.mark.parametrize("first", ["done", "in progress", "failed", "abandoned"])
@pytest.mark.parametrize("differs", OTHERS)
def test_other_content_under_a_known_id_is_dead_whatever_became_of_the_first(
    differs: str, first: str, desk: Desk
) -> None:
    match first:
        case "done":
            desk.recover()
        case "failed":
            desk.bank.raises = Rejected()
            desk.recover()
        case "in progress":
            desk.claim_of_another()
        case _:
            desk.claim_of_another()
            desk.now = TAKEOVER
    before, debits = desk.record, len(desk.bank.debits)
    assert desk.recover(OTHERS[differs]) == Dead(reason="mismatch")
    assert (desk.record, len(desk.bank.debits)) == (before, debits)


def test_two_use_cases_never_share_a_claim(desk: Desk) -> None:
    desk.ledger.claim(CHARGE.key("statements"), owner="another", now=NOW, lease=LEASE, retention=RETENTION)
    assert desk.recover() == DEBITED


@pytest.mark.parametrize("fate", ["written", "not written"])
def test_a_claim_that_is_not_answered_is_no_claim(fate: str, desk: Desk) -> None:
    """Fail closed: even if it was written, nobody works under it until its lease is over."""
    desk.memory.down = {"claim": "written" if fate == "written" else "not written"}
    with pytest.raises(StoreDown):
        desk.recover()
    assert (desk.bank.debits, desk.customers.told) == ([], [])
    assert (desk.ledger.read(KEY) is None) is (fate == "not written")


class _Moving(FailingLedger):
    """An abandoned claim that somebody else always changes before it can be marked."""

    def doubt(self, key: Key, **_: Any) -> Record:
        raise LeaseLost(key, None)


def test_a_claim_that_keeps_moving_is_left_to_the_next_delivery() -> None:
    desk = Desk(Semantics.AT_MOST_ONCE, _Moving(policy(Semantics.AT_MOST_ONCE)))
    desk.claim_of_another()
    desk.now = TAKEOVER
    with pytest.raises(Contended):
        desk.recover()
    assert desk.bank.debits == []
