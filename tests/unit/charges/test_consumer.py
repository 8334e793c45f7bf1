"""Outcomes as the queue sees them: acknowledged, kept, or copied to the dead-letter queue first."""

from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from idempotency.errors import LeaseLost, NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Semantics, State
from tests.unit.aws import refusal
from tests.unit.charges.charges import EVENT, body, body_with_raw, body_without
from tests.unit.charges.counter import MAX_RECEIVE_COUNT, Counter
from tests.unit.charges.desk import KEY, TAKEOVER, Desk
from tests.unit.charges.ports import StoreDown
from tests.unit.charges.work_queue import DLQ_URL
from tests.unit.conftest import Lines
from tests.unit.ingestion.messages import message, text

LAST = MAX_RECEIVE_COUNT


def _counts(lines: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """Each metric with its one dimension besides the service."""
    counted = []
    for line in lines:
        (directive,) = line["_aws"]["CloudWatchMetrics"]
        (name,) = [metric["Name"] for metric in directive["Metrics"]]
        assert line[name] == [1.0]
        others = [dimension for dimension in directive["Dimensions"][0] if dimension != "service"]
        counted.append((name, line[others[0]] if others else None))
    return counted


def _kept(counter: Counter) -> None:
    assert counter.queue.sent == []


@pytest.mark.parametrize("receive_count", [1, LAST, LAST + 1])
def test_what_was_debited_is_acknowledged(
    receive_count: int, counter: Counter, log_lines: Lines, metric_lines: Lines
) -> None:
    assert counter.take(message(body(), message_id="m-1", receive_count=receive_count)) is True
    assert (counter.queue.sent, counter.queue.hidden) == ([], [])
    assert _counts(metric_lines()) == [("Done", "DEBITED")]
    (line,) = log_lines()
    assert (line["message"], line["event_key"], line["message_id"]) == ("done", "charge:CHG-1", "m-1")


def test_a_failed_notification_shows_and_is_acknowledged(counter: Counter, metric_lines: Lines) -> None:
    counter.desk.customers.raises = Rejected()
    assert counter.take(message(body())) is True
    assert (counter.queue.sent, counter.queue.hidden) == ([], [])
    assert _counts(metric_lines()) == [("Done", "DEBITED_NOTIFICATION_FAILED")]


def test_a_duplicate_is_logged_for_audit_counted_and_acknowledged(
    counter: Counter, log_lines: Lines, metric_lines: Lines
) -> None:
    counter.take(message(body(), message_id="m-1"))
    assert counter.take(message(body(), message_id="m-2")) is True
    assert _counts(metric_lines()) == [("Done", "DEBITED"), ("Duplicates", "done")]
    line = log_lines()[-1]
    assert (line["message"], line["event_key"], line["message_id"]) == ("already done", "charge:CHG-1", "m-2")


def test_the_same_message_five_times_is_one_debit(counter: Counter, metric_lines: Lines) -> None:
    for count in range(1, 6):
        assert counter.take(message(body(), receive_count=count)) is True
    assert len(counter.desk.bank.debits) == 1
    assert _counts(metric_lines()) == [("Done", "DEBITED"), *[("Duplicates", "done")] * 4]


@pytest.mark.parametrize("receive_count", [1, LAST - 1, LAST, LAST + 1, 100])
def test_an_in_progress_duplicate_is_kept_on_every_receive_and_never_forwarded(
    receive_count: int, counter: Counter, log_lines: Lines
) -> None:
    counter.desk.claim_of_another()
    assert counter.take(message(body(), message_id="m-2", receive_count=receive_count)) is False
    _kept(counter)
    (line,) = log_lines()
    assert (line["message"], line["event_key"], line["until"]) == ("in progress", "charge:CHG-1", TAKEOVER)


def _mismatch(counter: Counter) -> None:
    counter.take(message(body(amount=1)))


def _failed(counter: Counter) -> None:
    counter.desk.bank.raises = Rejected()
    counter.take(message(body()))
    counter.queue.sent.clear()


def _rejected(counter: Counter) -> None:
    counter.desk.bank.raises = Rejected()


def _given_up(counter: Counter) -> None:
    counter.desk.bank.raises = NotApplied()


def _unknown(counter: Counter) -> None:
    counter.desk.bank.raises = OutcomeUnknown()


DEAD = {
    "mismatch": (_mismatch, 1),
    "failed": (_failed, 1),
    "rejected": (_rejected, 1),
    "not-applied": (_given_up, LAST),
    "in-doubt": (_unknown, LAST),
}


@pytest.mark.parametrize("reason", DEAD)
def test_a_dead_charge_is_copied_verbatim_with_its_reason_and_acknowledged(
    reason: str, counter: Counter, log_lines: Lines, metric_lines: Lines
) -> None:
    arrange, receive_count = DEAD[reason]
    arrange(counter)
    metric_lines()
    wire = f" {body()}\n"
    record = message(
        wire,
        message_id="m-9",
        receive_count=receive_count,
        sent_at="1799999999999",
        attributes={"tenant": text("t-1")},
    )
    assert counter.take(record) is True
    assert counter.queue.sent == [
        {
            "url": DLQ_URL,
            "body": wire,
            "attributes": {
                "reason": {"DataType": "String", "StringValue": reason},
                "firstSeenAt": {"DataType": "String", "StringValue": "1799999999999"},
                "tenant": {"DataType": "String", "StringValue": "t-1"},
            },
        }
    ]
    assert counter.queue.hidden == []
    assert _counts(metric_lines()) == [("DeadLettered", reason)]
    line = log_lines()[-1]
    assert (line["message"], line["reason"]) == ("dead-lettered", reason)
    assert (line["event_key"], line["message_id"]) == ("charge:CHG-1", "m-9")


def test_a_copy_that_comes_round_again_keeps_when_it_was_first_seen(counter: Counter) -> None:
    counter.desk.bank.raises = Rejected()
    again = {"firstSeenAt": text("1700000000000"), "reason": text("not-applied")}
    counter.take(message(body(), attributes=again))
    assert counter.queue.reasons == ["rejected"]
    assert counter.queue.sent[0]["attributes"]["firstSeenAt"]["StringValue"] == "1700000000000"


@pytest.mark.parametrize("reason", DEAD)
def test_what_sqs_does_not_take_stays_on_the_queue(
    reason: str, counter: Counter, metric_lines: Lines
) -> None:
    arrange, receive_count = DEAD[reason]
    arrange(counter)
    metric_lines()
    counter.queue.failures.append(refusal("KmsThrottled", "SendMessage"))
    with pytest.raises(ClientError):
        counter.take(message(body(), receive_count=receive_count))
    _kept(counter)
    assert metric_lines() == []


@pytest.mark.parametrize("receive_count", [LAST, LAST + 1])
def test_an_unknown_outcome_on_the_last_receive_is_on_record_before_it_is_forwarded(
    receive_count: int, counter: Counter
) -> None:
    counter.desk.bank.raises = OutcomeUnknown()
    counter.desk.memory.down = {"doubt": "not written"}
    with pytest.raises(StoreDown):
        counter.take(message(body(), receive_count=receive_count))
    _kept(counter)
    counter.desk.memory.down = {}
    counter.desk.now = TAKEOVER
    assert counter.take(message(body(), receive_count=receive_count)) is True
    assert counter.queue.reasons == ["in-doubt"]
    assert counter.desk.record.state is State.IN_DOUBT


def test_before_the_last_receive_nothing_that_may_yet_succeed_is_forwarded(repeatable: Desk) -> None:
    for error in (NotApplied(), OutcomeUnknown()):
        counter = Counter(Desk(Semantics.IDEMPOTENT_DOWNSTREAM))
        counter.desk.bank.raises = error
        assert counter.take(message(body(), receive_count=LAST - 1)) is False
        _kept(counter)


MALFORMED = {
    "invalid-json": "no json",
    **{f"invalid-{field}": body_without(field) for field in EVENT},
}
BAD_AMOUNTS = ["-25", "0", "1e400", "25.001", "NaN", '"NaN"', '"x"', "true", "null"]


@pytest.mark.parametrize("receive_count", [1, LAST])
@pytest.mark.parametrize("reason", MALFORMED)
def test_a_malformed_event_is_dead_with_its_field_and_leaves_no_claim(
    reason: str, receive_count: int, counter: Counter, log_lines: Lines, metric_lines: Lines
) -> None:
    record = message(MALFORMED[reason], message_id="m-3", receive_count=receive_count)
    assert counter.take(record) is True
    assert counter.queue.reasons == [reason]
    assert [copy["body"] for copy in counter.queue.sent] == [record["body"]]
    assert counter.desk.steps == []
    assert _counts(metric_lines()) == [("DeadLettered", reason)]
    (line,) = log_lines()
    assert (line["message_id"], line["reason"]) == ("m-3", reason)


@pytest.mark.parametrize("amount", BAD_AMOUNTS)
def test_a_bad_amount_is_dead_and_leaves_no_claim(amount: str, counter: Counter) -> None:
    assert counter.take(message(body_with_raw("amount", amount))) is True
    assert counter.queue.reasons == ["invalid-amount"]
    assert (counter.desk.steps, counter.desk.ledger.read(KEY)) == ([], None)


def test_a_malformed_event_that_sqs_does_not_take_stays_on_the_queue(counter: Counter) -> None:
    counter.queue.failures.append(refusal("OverLimit", "SendMessage"))
    with pytest.raises(ClientError):
        counter.take(message("no json"))


@pytest.mark.parametrize(
    ("error", "receive_count"),
    [(None, 1), (Rejected(), 1), (NotApplied(), 1), (None, LAST), (OutcomeUnknown(), LAST)],
    ids=repr,
)
def test_a_lost_claim_is_counted_and_neither_acknowledged_nor_forwarded(
    error: Exception | None, receive_count: int, repeatable: Desk, metric_lines: Lines
) -> None:
    counter = Counter(repeatable)

    def overtake() -> None:
        repeatable.now = TAKEOVER
        repeatable.claim_of_another(at=TAKEOVER)

    repeatable.bank.raises, repeatable.bank.meanwhile = error, overtake
    with pytest.raises(LeaseLost):
        counter.take(message(body(), receive_count=receive_count))
    assert (counter.queue.sent, counter.queue.hidden) == ([], [])
    assert _counts(metric_lines()) == [("LostClaims", None)]


@pytest.mark.parametrize("call", ["claim", "release", "fail", "doubt"])
def test_a_ledger_that_does_not_answer_keeps_the_message_even_on_the_last_receive(
    call: str, once: Desk
) -> None:
    counter = Counter(once)
    errors = {"release": NotApplied(), "fail": Rejected(), "doubt": OutcomeUnknown()}
    once.bank.raises, once.memory.down = errors.get(call), {call: "not written"}
    with pytest.raises(StoreDown):
        counter.take(message(body(), receive_count=LAST))
    _kept(counter)


def test_every_handling_is_an_owner_of_its_own(counter: Counter) -> None:
    """Of two deliveries side by side, even of one message, one has the claim."""
    answers = []

    def again() -> None:
        counter.desk.bank.meanwhile = lambda: None
        answers.append(counter.take(message(body(), receive_count=2)))

    counter.desk.bank.meanwhile = again
    assert counter.take(message(body())) is True
    assert answers == [False]
    assert len(counter.desk.bank.debits) == 1


@pytest.mark.parametrize(
    "failure",
    [
        refusal("InvalidParameterValue"),
        refusal("AccessDenied"),
        ReadTimeoutError(endpoint_url="https://sqs.invalid"),
    ],
    ids=lambda failure: type(failure).__name__ + str(failure)[:60],
)
@pytest.mark.parametrize("arrange", [_given_up, Desk.claim_of_another], ids=["retry", "wait"])
def test_a_visibility_that_sqs_does_not_change_still_keeps_the_message(
    arrange: Any, failure: Exception, counter: Counter, log_lines: Lines
) -> None:
    """It comes back after the queue's own visibility timeout."""
    arrange(counter if arrange is _given_up else counter.desk)
    counter.queue.visibility_failures.append(failure)
    assert counter.take(message(body(), message_id="m-1")) is False
    _kept(counter)
    line = log_lines()[-1]
    assert (line["message"], line["message_id"]) == ("visibility not changed", "m-1")
    assert line["error"] == type(failure).__name__
