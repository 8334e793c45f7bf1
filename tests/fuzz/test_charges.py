"""The charges consumer: whatever a batch holds and meets, none is debited twice or acked unsettled."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from charges import charge_due_event, consumer
from charges.model import InvalidCharge
from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Key, Record, Semantics, State
from tests.fuzz.effort import examples
from tests.fuzz.fates import Fate, FatefulQueue
from tests.fuzz.strategies.messages import batches, records
from tests.fuzz.strategies.texts import json_values, numerals, objects_with
from tests.fuzz.wired import Context, wired
from tests.unit.charges.charges import body, body_with_raw
from tests.unit.charges.desk import LEASE, MARGIN, NOW, RETENTION, policy
from tests.unit.charges.ports import FailingLedger
from tests.unit.charges.work_queue import DLQ_URL, URL
from tests.unit.ingestion.messages import message

# Of a debit. The last three may have happened, and the bank does not tell.
DEBITS: dict[str, Callable[[], Exception] | None] = {
    "debited": None,
    "rejected": Rejected,
    "not applied": NotApplied,
    "unknown": OutcomeUnknown,
    "reset": ConnectionResetError,
    "bug": KeyError,
}
HARMLESS = {"rejected", "not applied"}

FORWARDED = {"rejected", "not-applied", "in-doubt", "failed", "mismatch"}
INVALID = {
    f"invalid-{name}" for name in ("json", "chargeId", "accountId", "amount", "currency", "type", "dueAt")
}

# Mostly the same, so that the charges of a batch meet.
fields: dict[str, st.SearchStrategy[Any]] = {
    "chargeId": st.sampled_from(["CHG-1", "CHG-1", "CHG-2", "CHG-3"]),
    "accountId": st.sampled_from(["ACC-1"] * 5 + ["ACC-2"]),
    "amount": st.sampled_from(["25.00", "25.00", "25.00", 25, "2.5e1", "0.01", "1E-2000000", "9" * 41]),
    "currency": st.sampled_from(["EUR"] * 5 + ["JPY"]),
    "type": st.just("fee"),
    "dueAt": st.sampled_from(["2027-01-15T08:00:00Z", "2027-W02-5", "99991231"]),
}
charge_events = objects_with(fields)
anything_like_it = objects_with({name: value | numerals | json_values for name, value in fields.items()})
own = charge_events | charge_events | anything_like_it


def charge_in(text: object) -> str | None:
    """Its id; None where there is none."""
    try:
        return charge_due_event.parse(str(text)).id
    except InvalidCharge:
        return None


class Downstream:
    """What `wiring` hands out as an HTTP effect; `endings` by idempotency key, the same for every try."""

    def __init__(self, endings: dict[str, str]) -> None:
        self.endings = endings
        self.posted: list[tuple[str, str]] = []  # idempotency key, ending

    def post(self, _: str, *, idempotency_key: str, **_more: int) -> dict[str, Any]:
        ending = self.endings.get(idempotency_key, "debited")
        self.posted.append((idempotency_key, ending))
        if error := DEBITS[ending]:
            raise error()
        return {"status": 200, "body": "booked"}


class Charges:
    """A deployment with its ledger, bank and queue, at seconds that a test sets.

    One record is handled after the other, so that a batch can be repeated.
    """

    def __init__(self, semantics: Semantics, endings: dict[str, str]) -> None:
        self.now = NOW
        self.ledger = FailingLedger(policy(semantics))
        self.bank = Downstream(endings)
        self.customers = Downstream({f"{charge}:notification": ending for charge, ending in endings.items()})
        self.queue = FatefulQueue()
        self.environment = {
            "SEMANTICS": semantics.value,
            "NAMESPACE": "charges",
            "LEASE_SECONDS": str(LEASE),
            "MARGIN_SECONDS": str(MARGIN),
            "RETENTION_SECONDS": str(RETENTION),
            "QUEUE_URL": URL,
            "DLQ_URL": DLQ_URL,
            "MAX_RECEIVE_COUNT": "5",
            "CONCURRENCY": "1",
            "RECORD_SECONDS": "30",
        }

    def deliver(self, batch: list[dict[str, Any]], *, milliseconds: int = 60_000) -> set[str]:
        """The ids of messages that stay on the queue."""
        with wired(
            self.environment,
            clients={"sqs": self.queue},
            made_once=[consumer._consumer],
            ledger=lambda: self.ledger,
            http_effect={"CORE_BANKING": self.bank, "NOTIFICATION": self.customers}.__getitem__,
            clock=lambda: self.now,
        ):
            answer = consumer.handler({"Records": batch}, Context(milliseconds))
        assert answer.keys() == {"batchItemFailures"}
        assert all(failure.keys() == {"itemIdentifier"} for failure in answer["batchItemFailures"])
        return {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}

    def deliver_amid(
        self, batch: list[dict[str, Any]], outage: dict[str, Any], fates: list[Fate]
    ) -> set[str]:
        """The same, while the ledger is down for some writes; `fates` are those of the copies."""
        self.ledger.down = outage
        self.queue.fates = {record["body"]: fate for record, fate in zip(batch, fates, strict=False)}
        return self.deliver(batch)

    def record(self, text: object) -> Record | None:
        """Of the charge in a body; None if there is none."""
        return self.ledger.read(Key(pk=f"charge:{charge_in(text)}", sk="charges"))

    def settled(self, record: dict[str, Any]) -> bool:
        """Done, or in the dead-letter queue, and nobody at work on it but who has claimed it anew."""
        found = self.record(record["body"])
        if found and found.state is State.DONE:
            return True
        reasons = {copy["attributes"]["reason"]["StringValue"] for copy in self.queue.copies(record["body"])}
        if found is None:
            return bool(reasons & INVALID)
        at_work = found.state is State.IN_PROGRESS and found.attempt == 1
        return "mismatch" in reasons or (bool(reasons & FORWARDED) and not at_work)

    def perhaps_debited(self) -> Counter[str]:
        """How often each charge was debited, or may have been."""
        return Counter(key for key, ending in self.bank.posted if ending not in HARMLESS)


endings = st.fixed_dictionaries({f"CHG-{number}": st.sampled_from(list(DEBITS)) for number in (1, 2, 3)})
deployments = st.builds(Charges, st.sampled_from(list(Semantics)), endings)
outages = st.dictionaries(
    st.sampled_from(["claim", "complete", "fail", "doubt", "release"]),
    st.sampled_from(["not written", "written"]),
    max_size=2,
)
refused_copies = st.lists(st.sampled_from([Fate.DONE, Fate.DONE, *Fate]), min_size=5, max_size=5)


@examples(150)
@given(deployments, batches(own), outages, refused_copies)
def test_a_message_is_acknowledged_only_when_its_charge_is_settled(
    charges: Charges, batch: list[dict[str, Any]], outage: dict[str, Any], fates: list[Fate]
) -> None:
    stay = charges.deliver_amid(batch, outage, fates)
    for record in batch:
        assert record["messageId"] in stay or charges.settled(record)


@examples(80)
@given(deployments, batches(own), outages, refused_copies)
def test_when_all_is_well_again_every_message_settles_and_no_charge_is_debited_twice(
    charges: Charges, batch: list[dict[str, Any]], outage: dict[str, Any], fates: list[Fate]
) -> None:
    """Under idempotent-downstream the bank may be asked again: the charge's id is its idempotency key."""
    stay = charges.deliver_amid(batch, outage, fates)
    charges.ledger.down, charges.queue.fates, charges.bank.endings = {}, {}, {}
    for _ in batch:  # copies of one charge may have to wait for each other
        charges.now += LEASE + MARGIN
        stay = charges.deliver([record for record in batch if record["messageId"] in stay])
    assert stay == set()
    assert all(charges.settled(record) for record in batch)
    if charges.ledger.policy.semantics is Semantics.AT_MOST_ONCE:
        assert all(times == 1 for times in charges.perhaps_debited().values())


@examples(60)
@given(deployments, st.lists(st.integers(1, 6), min_size=2, max_size=5), outages)
def test_copies_of_one_charge_in_one_batch_debit_it_once(
    charges: Charges, receive_counts: list[int], outage: dict[str, Any]
) -> None:
    copies = [
        message(body(chargeId="CHG-1"), message_id=f"m-{number}", receive_count=receive_count)
        for number, receive_count in enumerate(receive_counts)
    ]
    charges.ledger.down = outage
    stay = charges.deliver(copies)
    assert all(copy["messageId"] in stay or charges.settled(copy) for copy in copies)
    given_up = any(receive_count >= 5 for receive_count in receive_counts)  # in doubt, so tried anew
    if charges.ledger.policy.semantics is Semantics.AT_MOST_ONCE or not given_up:
        assert charges.perhaps_debited()["CHG-1"] <= 1


@examples(60)
@given(deployments, batches(own), st.integers(0, 4))
def test_what_happens_to_a_message_does_not_depend_on_its_neighbours(
    charges: Charges, batch: list[dict[str, Any]], number: int
) -> None:
    """Of other charges, that is."""
    record = batch[number % len(batch)]
    text, message_id = record["body"], record["messageId"]
    assume(all(each is record or charge_in(each["body"]) != charge_in(text) for each in batch))
    alone = Charges(charges.ledger.policy.semantics, charges.bank.endings)
    stays = message_id in alone.deliver([record])
    assert (message_id in charges.deliver(batch)) is stays
    found, expected = charges.record(text), alone.record(text)
    assert (found and found.state) == (expected and expected.state)


@examples(80)
@given(deployments, records(own))
@example(Charges(Semantics.AT_MOST_ONCE, {}), message(body_with_raw("amount", f"1e{'9' * 20}")))
def test_a_message_by_itself_is_acknowledged_unless_it_may_be_tried_again(
    charges: Charges, record: dict[str, Any]
) -> None:
    last_chance = int(record["attributes"]["ApproximateReceiveCount"]) >= 5
    charge = charge_in(record["body"])
    stays = record["messageId"] in charges.deliver([record])
    reasons = {copy["attributes"]["reason"]["StringValue"] for copy in charges.queue.sent}
    match charge and charges.bank.endings[charge]:
        case None:
            assert not stays
            assert reasons <= INVALID
        case "debited":
            assert (stays, reasons) == (False, set())
        case "rejected":
            assert (stays, reasons) == (False, {"rejected"})
        case "not applied":
            assert (stays, reasons) == ((False, {"not-applied"}) if last_chance else (True, set()))
        case _:
            repeatable = charges.ledger.policy.semantics is Semantics.IDEMPOTENT_DOWNSTREAM
            waits = repeatable and not last_chance
            assert (stays, reasons) == ((True, set()) if waits else (False, {"in-doubt"}))


@examples(80)
@given(deployments, batches(own, malformed_too=True))
def test_what_is_no_record_of_sqs_is_not_acknowledged_unsettled_either(
    charges: Charges, batch: list[dict[str, Any]]
) -> None:
    stay = charges.deliver(batch)
    assert stay <= {record["messageId"] for record in batch}
    for record in batch:
        assert record["messageId"] in stay or charges.settled(record)


@examples(20)
@given(deployments, batches(own, malformed_too=True))
def test_without_time_nothing_is_begun(charges: Charges, batch: list[dict[str, Any]]) -> None:
    assert charges.deliver(batch, milliseconds=29_999) == {record["messageId"] for record in batch}
    assert (charges.bank.posted, charges.queue.sent, charges.ledger.steps) == ([], [], [])
