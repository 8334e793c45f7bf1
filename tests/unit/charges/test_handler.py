"""The function as Lambda calls it: a batch side by side, each record on its own, never out of time."""

import io
import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

import wiring
from charges import consumer
from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Key, Semantics, State
from telemetry import log
from tests.unit.aws import refusal
from tests.unit.charges.charges import body, body_with_raw
from tests.unit.charges.desk import LEASE, MARGIN, RETENTION, policy
from tests.unit.charges.ports import FailingLedger
from tests.unit.charges.work_queue import DLQ_URL, URL, WorkQueue
from tests.unit.conftest import Lines
from tests.unit.ingestion.messages import message

RECORD_SECONDS = 30
ENVIRONMENT = {
    "SEMANTICS": "idempotent-downstream",
    "NAMESPACE": "charges",
    "LEASE_SECONDS": str(LEASE),
    "MARGIN_SECONDS": str(MARGIN),
    "RETENTION_SECONDS": str(RETENTION),
    "QUEUE_URL": URL,
    "DLQ_URL": DLQ_URL,
    "MAX_RECEIVE_COUNT": "5",
    "CONCURRENCY": "10",
    "RECORD_SECONDS": str(RECORD_SECONDS),
}
MARKER = "payload-marker-7f3a"


@dataclass
class Downstream:
    """What `wiring` hands out as an HTTP effect."""

    seconds: float = 0.0
    raises: dict[str, Exception] = field(default_factory=dict)  # by idempotency key
    keys: list[str] = field(default_factory=list)

    def post(self, _: str, *, idempotency_key: str, **__: object) -> dict[str, Any]:
        self.keys.append(idempotency_key)
        time.sleep(self.seconds)
        if idempotency_key in self.raises:
            raise self.raises[idempotency_key]
        return {"status": 200}


@dataclass
class Context:
    milliseconds: int = 60_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


@dataclass
class Account:
    ledger: FailingLedger = field(
        default_factory=lambda: FailingLedger(policy(Semantics.IDEMPOTENT_DOWNSTREAM))
    )
    queue: WorkQueue = field(default_factory=WorkQueue)
    bank: Downstream = field(default_factory=Downstream)
    customers: Downstream = field(default_factory=Downstream)
    context: Context = field(default_factory=Context)

    def deliver(self, *records: dict[str, Any]) -> list[str]:
        """The ids of messages that stay on the queue."""
        answer = consumer.handler({"Records": list(records)}, self.context)
        assert answer.keys() == {"batchItemFailures"}
        return [each["itemIdentifier"] for each in answer["batchItemFailures"]]

    def state(self, number: int) -> State | None:
        record = self.ledger.read(Key(pk=f"charge:CHG-{number}", sk="charges"))
        return record.state if record else None


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    account = Account()
    effects = {"CORE_BANKING": account.bank, "NOTIFICATION": account.customers}
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(wiring, "client", {"sqs": account.queue}.__getitem__)
    monkeypatch.setattr(wiring, "ledger", lambda: account.ledger)
    monkeypatch.setattr(wiring, "http_effect", effects.__getitem__)
    consumer._consumer.cache_clear()
    yield account
    consumer._consumer.cache_clear()


def _batch(count: int, *, first: int = 0) -> list[dict[str, Any]]:
    """Charges CHG-<first> and so on, in messages m-<first> and so on."""
    return [
        message(body(chargeId=f"CHG-{number}"), message_id=f"m-{number}")
        for number in range(first, first + count)
    ]


def test_a_batch_is_debited_notified_and_acknowledged(account: Account) -> None:
    assert account.deliver(*_batch(10)) == []
    assert sorted(account.bank.keys) == [f"CHG-{number}" for number in range(10)]
    assert sorted(account.customers.keys) == [f"CHG-{number}:notification" for number in range(10)]
    assert {account.state(number) for number in range(10)} == {State.DONE}
    record = account.ledger.read(Key(pk="charge:CHG-0", sk="charges"))
    assert record is not None
    assert record.expires_at == record.updated_at + RETENTION


def test_all_debits_of_a_batch_are_under_way_at_once(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a batch takes as long as its slowest record: none returns before the last one has begun."""
    everybody = threading.Barrier(10)

    def post(body: str, *, idempotency_key: str, attempt: int) -> dict[str, Any]:
        everybody.wait(timeout=60)
        return {"status": 200}

    monkeypatch.setattr(account.bank, "post", post)
    assert account.deliver(*_batch(10)) == []
    assert {account.state(number) for number in range(10)} == {State.DONE}


def test_no_more_records_run_at_once_than_the_setting_says(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCURRENCY", "2")
    running: set[int] = set()
    most = []

    def post(body: str, *, idempotency_key: str, attempt: int) -> dict[str, Any]:
        running.add(threading.get_ident())
        most.append(len(running))
        time.sleep(0.02)
        running.discard(threading.get_ident())
        return {"status": 200}

    monkeypatch.setattr(account.bank, "post", post)
    assert account.deliver(*_batch(6)) == []
    assert max(most) == 2


def test_no_thread_outlives_the_handler(account: Account) -> None:
    before = set(threading.enumerate())
    account.bank.seconds = 0.02
    account.bank.raises = {"CHG-3": OutcomeUnknown()}
    account.deliver(*_batch(10))
    assert set(threading.enumerate()) == before


def test_the_same_charge_twice_in_a_batch_is_debited_once(account: Account) -> None:
    """While one debits the other is told to wait; its message alone stays."""
    account.bank.seconds = 0.1
    twins = [message(body(), message_id=f"m-{number}") for number in range(2)]
    (kept,) = account.deliver(*twins)
    assert kept in ("m-0", "m-1")
    assert account.bank.keys == ["CHG-1"]
    assert account.queue.seconds >= LEASE + MARGIN - 2  # the clock is real here
    assert account.queue.sent == []
    again = next(twin for twin in twins if twin["messageId"] == kept)
    assert account.deliver(again) == []
    assert account.bank.keys == ["CHG-1"]


def test_every_record_ends_in_its_own_way_and_its_neighbours_do_not_notice(account: Account) -> None:
    account.bank.raises = {"CHG-1": Rejected(), "CHG-2": NotApplied(), "CHG-3": OutcomeUnknown()}
    account.customers.raises = {"CHG-4:notification": OutcomeUnknown()}
    account.ledger.down, account.ledger.only = {"claim": "not written"}, "charge:CHG-5"
    batch = _batch(7)
    broken = [message("no json", message_id="m-7"), message(body(amount=-1), message_id="m-8")]
    assert account.deliver(*batch, *broken) == ["m-2", "m-3", "m-5"]
    assert [account.state(number) for number in range(7)] == [
        State.DONE,
        State.FAILED,
        State.RELEASED,
        State.IN_PROGRESS,
        State.DONE,
        None,
        State.DONE,
    ]
    assert sorted(account.queue.reasons) == ["invalid-amount", "invalid-json", "rejected"]


@pytest.mark.parametrize("missing", ["body", "attributes", "receiptHandle"])
def test_a_record_that_is_none_stays_and_leaves_the_others_alone(missing: str, account: Account) -> None:
    account.bank.raises = {"CHG-1": NotApplied()}
    batch = _batch(3)
    del batch[1][missing]
    assert account.deliver(*batch) == ["m-1"]
    assert (account.state(0), account.state(2)) == (State.DONE, State.DONE)


def test_the_last_receive_is_the_queues_own(account: Account) -> None:
    """MAX_RECEIVE_COUNT, not one before it."""
    account.bank.raises = {"CHG-1": NotApplied()}
    assert account.deliver(message(body(), message_id="m", receive_count=4)) == ["m"]
    assert account.queue.sent == []
    assert account.deliver(message(body(), message_id="m", receive_count=5)) == []
    assert account.queue.reasons == ["not-applied"]


def test_at_most_once_is_wired_through(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTICS", "at-most-once")
    account.bank.raises = {"CHG-1": OutcomeUnknown()}
    assert account.deliver(message(body())) == []
    assert account.queue.reasons == ["in-doubt"]


def test_durations_are_wired_through(account: Account, log_lines: Lines) -> None:
    account.bank.raises = {"CHG-1": OutcomeUnknown()}
    assert account.deliver(message(body(), message_id="m")) == ["m"]
    record = account.ledger.read(Key(pk="charge:CHG-1", sk="charges"))
    assert record is not None
    claimed_at = record.updated_at
    assert (record.lease_until, record.expires_at) == (claimed_at + LEASE, claimed_at + RETENTION)
    assert [line["until"] for line in log_lines()] == [claimed_at + LEASE + MARGIN]


def test_with_too_little_time_left_nothing_is_started_and_all_is_set_aside(account: Account) -> None:
    account.context.milliseconds = RECORD_SECONDS * 1_000 - 1
    assert account.deliver(*_batch(3)) == ["m-0", "m-1", "m-2"]
    assert (account.bank.keys, account.ledger.steps, account.queue.sent) == ([], [], [])
    assert account.queue.hidden == [("handle-1", 5)] * 3


def test_with_time_for_just_one_record_it_is_started(account: Account) -> None:
    account.context.milliseconds = RECORD_SECONDS * 1_000
    assert account.deliver(*_batch(1)) == []


def test_when_time_runs_out_in_mid_batch_the_rest_is_set_aside(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCURRENCY", "1")

    def post(body: str, *, idempotency_key: str, attempt: int) -> dict[str, Any]:
        account.context.milliseconds -= 20_000
        return {"status": 200}

    monkeypatch.setattr(account.bank, "post", post)
    assert account.deliver(*_batch(4)) == ["m-2", "m-3"]
    assert len(account.queue.hidden) == 2


def test_what_cannot_be_set_aside_stays_too(account: Account) -> None:
    account.context.milliseconds = 0
    account.queue.visibility_failures.append(refusal("InternalError"))
    assert account.deliver(*_batch(2)) == ["m-0", "m-1"]


def _marked(number: int, **changes: object) -> dict[str, Any]:
    changes = {"accountId": MARKER, "type": MARKER, "extra": MARKER, **changes}
    return message(body(chargeId=f"CHG-{number}", **changes), message_id=f"m-{number}")


def test_the_charge_is_in_the_lines_and_its_payload_in_none(
    account: Account, log_lines: Lines, capsys: pytest.CaptureFixture[str]
) -> None:
    account.bank.raises = {
        "CHG-1": Rejected(),
        "CHG-2": NotApplied(),
        "CHG-3": OutcomeUnknown(),
        "CHG-4": ValueError("a bug"),
    }
    account.ledger.down, account.ledger.only = {"complete": "not written"}, "charge:CHG-5"
    account.deliver(*[_marked(number) for number in range(6)])
    account.deliver(*[_marked(number, amount=26) for number in range(6)])
    account.deliver(message(f"{MARKER} is no json"), _marked(6, dueAt=MARKER), _marked(7, amount=MARKER))
    account.context.milliseconds = 0
    account.deliver(_marked(8))
    lines = log_lines()
    named = {line.get("event_key") for line in lines}
    assert {f"charge:CHG-{number}" for number in range(6)} <= named
    assert all(line["message_id"] for line in lines)
    assert MARKER not in json.dumps(lines)
    assert MARKER not in capsys.readouterr().out


@pytest.mark.parametrize(
    "record",
    [
        message(f"{MARKER} is no json"),
        _marked(1, amount=MARKER),
        _marked(1, currency=MARKER),
        message(body_with_raw("amount", f'"{MARKER}"')),
        _marked(1, dueAt=MARKER),
    ],
    ids=["json", "amount", "currency", "amount as text", "dueAt"],
)
def test_a_traceback_shows_no_payload_either(
    record: dict[str, Any], account: Account, log_lines: Lines
) -> None:
    """SQS does not take the copy of a malformed event: what failed is logged with all that led to it."""
    account.queue.failures.append(refusal("KmsThrottled", "SendMessage"))
    assert account.deliver(record) == [record["messageId"]]
    (line,) = log_lines()
    assert "KmsThrottled" in line["exception"]
    assert MARKER not in json.dumps(line)


class SlowOutput(io.StringIO):
    """Gives way to other threads after each write, as any pipe may."""

    def write(self, text: str) -> int:
        written = super().write(text)
        time.sleep(0.001)
        return written


def test_lines_of_records_side_by_side_do_not_mix(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """CloudWatch reads metrics and logs line by line from one stream; a line that is torn counts nothing."""
    output = SlowOutput()
    handler: Any = log.registered_handler
    before = handler.setStream(output)
    monkeypatch.setattr(sys, "stdout", output)
    account.deliver(*_batch(10))
    handler.setStream(before)
    lines = [json.loads(line) for line in output.getvalue().splitlines()]
    assert len([line for line in lines if "Done" in line]) == 10
