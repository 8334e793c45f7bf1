"""The fifth workload pays each refund once, and no message of it goes anywhere unseen."""

import json
from typing import Any

import pytest

from idempotency.adapters.memory import MemoryLedger
from idempotency.errors import LeaseLost, NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Key, Policy, Semantics, State
from idempotency.run_once import Guard
from samples.refunds.lambdas.refunds.consumer import Consumer
from tests.samples.payments import Payments
from tests.statemachines.messages import message
from tests.unit.aws import Queue

NOW, LEASE, MARGIN = 1_800_000_000, 240, 60
REFUND = json.dumps({"refundId": "R-1", "amount": "25.00", "currency": "EUR"})
KEY = Key(pk="refund:R-1", sk="refunds")


class Refunds:
    def __init__(self, semantics: Semantics) -> None:
        self.now = NOW
        self.ledger = MemoryLedger(Policy(semantics=semantics, margin=MARGIN))
        self.payments = Payments()
        self.dead_letters = Queue()
        self._owners = iter(range(1000))
        self.consumer = Consumer(
            guard=Guard(
                ledger=self.ledger,
                namespace="refunds",
                clock=lambda: self.now,
                new_owner=lambda: f"owner-{next(self._owners)}",
                retention=40 * 86_400,
                in_flight_ttl=LEASE,
            ),
            payments=self.payments,
            sqs=self.dead_letters,
            dlq_url="dlq",
        )

    def deliver(self, body: str = REFUND) -> bool:
        """Whether the message is gone from the queue afterwards."""
        return self.consumer.take(message(body))

    @property
    def state(self) -> State:
        record = self.ledger.read(KEY)
        assert record is not None
        return record.state


@pytest.fixture(params=list(Semantics), ids=str)
def refunds(request: pytest.FixtureRequest) -> Refunds:
    return Refunds(request.param)


@pytest.fixture
def once() -> Refunds:
    return Refunds(Semantics.AT_MOST_ONCE)


@pytest.fixture
def repeatable() -> Refunds:
    return Refunds(Semantics.IDEMPOTENT_DOWNSTREAM)


def test_a_refund_that_comes_twice_is_paid_once(refunds: Refunds) -> None:
    assert [refunds.deliver(), refunds.deliver()] == [True, True]
    assert refunds.payments.paid == [("refund:R-1", 1)]
    assert refunds.dead_letters.sent == []


def test_another_amount_under_the_same_id_is_not_paid(refunds: Refunds) -> None:
    assert refunds.deliver()
    assert refunds.deliver(REFUND.replace("25.00", "2500.00"))
    assert refunds.payments.paid == [("refund:R-1", 1)]
    assert refunds.dead_letters.reasons == ["mismatch"]


def test_a_message_whose_refund_another_is_paying_stays_on_the_queue(refunds: Refunds) -> None:
    refunds.ledger.claim(KEY, owner="another", now=NOW, lease=LEASE, retention=1000)
    assert not refunds.deliver()
    assert refunds.payments.paid == []
    assert refunds.dead_letters.sent == []


def test_what_is_refused_for_good_is_a_dead_letter_and_so_is_its_resend(refunds: Refunds) -> None:
    refunds.payments.raises = [Rejected("closed account")]
    assert [refunds.deliver(), refunds.deliver()] == [True, True]
    assert refunds.dead_letters.reasons == ["rejected", "failed"]
    assert refunds.state is State.FAILED


def test_what_is_refused_for_now_stays_on_the_queue_and_is_paid_later(refunds: Refunds) -> None:
    refunds.payments.raises = [NotApplied("busy")]
    with pytest.raises(NotApplied):
        refunds.deliver()
    assert refunds.deliver()
    assert refunds.payments.paid == [("refund:R-1", 2)]


def test_a_refund_that_may_be_paid_is_paid_again_only_where_that_is_harmless(
    once: Refunds, repeatable: Refunds
) -> None:
    for each in (once, repeatable):
        each.payments.raises = [OutcomeUnknown("timed out")]
        with pytest.raises(OutcomeUnknown):
            each.deliver()
        assert each.deliver()
    assert once.payments.paid == [("refund:R-1", 1)]
    assert once.dead_letters.reasons == ["in-doubt"]
    assert repeatable.payments.paid == [("refund:R-1", 1), ("refund:R-1", 2)]
    assert repeatable.dead_letters.sent == []


def test_a_claim_that_was_lost_acknowledges_nothing_and_is_counted(
    repeatable: Refunds, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(body: str, **_: Any) -> None:
        repeatable.now += LEASE + MARGIN
        repeatable.ledger.claim(KEY, owner="another", now=repeatable.now, lease=LEASE, retention=1000)

    monkeypatch.setattr(repeatable.payments, "post", slowly)
    with pytest.raises(LeaseLost):
        repeatable.deliver()
    assert '"LostClaims"' in capsys.readouterr().out


@pytest.mark.parametrize("body", ["", "[]", "null", "{}", '{"refundId": null}', "[" * 100_000, "{"])
def test_what_has_no_id_is_a_dead_letter(refunds: Refunds, body: str) -> None:
    assert refunds.deliver(body)
    assert refunds.dead_letters.reasons == ["no-key"]
    assert refunds.dead_letters.sent[0]["body"] == body


def test_a_dead_letter_that_sqs_refuses_stays_on_the_queue(refunds: Refunds) -> None:
    refunds.dead_letters.failures = [ConnectionError()]
    with pytest.raises(ConnectionError):
        refunds.deliver("{}")
