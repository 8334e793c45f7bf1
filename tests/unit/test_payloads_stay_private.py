"""Every handler, wired as in Lambda and run on a marked payload, on good paths and bad: no line shows it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

import wiring
from idempotency.adapters.memory import MemoryLedger
from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Key, Policy, Semantics, State
from ingestion import idempotency_guard, reconciler, record_failure, side_effect, starter
from registrations import processor, sweeper
from tests.unit.aws import Execution, MarkerTable, Queue, StepFunctions, refusal
from tests.unit.conftest import Lines
from tests.unit.ingestion.messages import message
from tests.unit.registrations import account as registrations
from tests.unit.registrations.desk import PREFIX

MARKER = "payload-marker-7f3a"
KEY = Key(pk="charge:1", sk="ingestion")

ENVIRONMENT = {
    "DLQ_URL": "https://queues.invalid/dlq",
    "EVENT_KEY": "id",
    "EVENT_SOURCE": "charge",
    "FINGERPRINT": "amount",
    "LEASE_SECONDS": "600",
    "LEDGER_TABLE": "ledger",
    "MACHINE_TIMEOUT_SECONDS": "500",
    "MISSING_KEY": "dead-letter",
    "NAMESPACE": "ingestion",
    "RETENTION_SECONDS": "100000",
    "SDK_CALL_SECONDS": "4",
    "SEMANTICS": "at-most-once",
    "SETTLE_SECONDS": "40",
    "STARTER_CONCURRENCY": "2",
    "STATE_MACHINE_ARN": StepFunctions().machine,
    "TASK_TIMEOUT_SECONDS": "20",
}


class Context:
    function_name = memory_limit_in_mb = invoked_function_arn = aws_request_id = "-"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@dataclass
class Downstream:
    raises: Exception | None = None
    bodies: list[str] = field(default_factory=list)

    def post(self, body: str, **_: object) -> object:
        self.bodies.append(body)
        if self.raises:
            raise self.raises
        return {"status": 200}


@dataclass
class Account:
    """What `wiring` hands out here."""

    stepfunctions: StepFunctions = field(default_factory=StepFunctions)
    sqs: Queue = field(default_factory=Queue)
    dynamodb: MarkerTable = field(default_factory=MarkerTable)
    downstream: Downstream = field(default_factory=Downstream)
    ledger: MemoryLedger = field(
        default_factory=lambda: MemoryLedger(Policy(semantics=Semantics.AT_MOST_ONCE, margin=10))
    )


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    account = Account()
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(wiring, "client", lambda service: getattr(account, service))
    monkeypatch.setattr(wiring, "ledger", lambda: account.ledger)
    monkeypatch.setattr(side_effect, "effect", lambda event: account.downstream.post(event.body))
    starter._starter.cache_clear()
    yield account
    starter._starter.cache_clear()


@pytest.fixture(autouse=True)
def nothing_shows(log_lines: Lines, capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert log_lines(), "a handler that logs nothing proves nothing"
    assert MARKER not in str(log_lines())
    assert MARKER not in capsys.readouterr().out


def _body(**more: object) -> dict[str, object]:
    return {"id": 1, "secret": MARKER, **more}


def _start(*bodies: object) -> list[str]:
    records = [message(body, message_id=f"m-{number}") for number, body in enumerate(bodies)]
    answer = starter.handler({"Records": records}, Context())
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def test_the_starter(account: Account) -> None:
    bodies = [_body(), f"{MARKER} is no json", {"secret": MARKER}, _body(amount=MARKER, more="x" * 300_000)]
    assert _start(*bodies) == []
    assert sorted(account.sqs.reasons) == ["invalid-json", "no-key", "too-large"]
    assert len(account.stepfunctions.executions) == 1


def test_the_starter_when_its_calls_fail(account: Account) -> None:
    account.stepfunctions.failures.append(refusal("ThrottlingException", "StartExecution"))
    assert _start(_body()) == ["m-0"]
    account.sqs.failures.append(refusal("OverLimit", "SendMessage"))
    assert _start(f"{MARKER} is no json") == ["m-0"]


def test_by_message_id_the_starter_needs_no_key(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISSING_KEY", "message-id")
    assert _start({"secret": MARKER}) == []
    (execution,) = account.stepfunctions.executions.values()
    assert json.loads(execution.input)["businessKey"] == "sqs:m-0"


def test_without_a_fingerprint_the_starter_makes_none(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINGERPRINT", "")
    assert _start(_body()) == []
    (execution,) = account.stepfunctions.executions.values()
    assert json.loads(execution.input)["fingerprint"] is None


def _guard() -> dict[str, Any]:
    event = {"messageId": "m-0", "businessKey": KEY.pk, "namespace": KEY.sk, "executionId": "e-1"}
    return idempotency_guard.handler({**event, "body": MARKER, "retentionSeconds": 100_000}, Context())


def _effect() -> dict[str, str]:
    event = {"messageId": "m-0", "executionId": "e-1", "body": f'"{MARKER}"', **_guard()}
    return side_effect.handler(event, Context())


def test_the_guard_and_the_side_effect(account: Account) -> None:
    assert _effect() == {"reason": "done"}
    assert account.downstream.bodies == [f'"{MARKER}"']
    record = account.ledger.read(KEY)
    assert record is not None
    assert record.state is State.DONE


@pytest.mark.parametrize("error", [Rejected, NotApplied, OutcomeUnknown])
def test_a_failed_effect_and_its_record(error: type[Exception], account: Account) -> None:
    account.downstream.raises = error("HTTP 4xx")
    with pytest.raises(error):
        _effect()
    state = {
        "messageId": "m-0",
        "businessKey": KEY.pk,
        "namespace": KEY.sk,
        "body": MARKER,
        "outcome": {"proceed": True, "attempt": 1},
        "error": {"Error": error.__name__, "Cause": MARKER},
    }
    answer = record_failure.handler({"executionId": "e-1", "state": state}, Context())
    assert answer["reason"] in ("rejected", "not-applied", "in-doubt")


def test_an_effect_whose_error_quotes_the_payload(account: Account) -> None:
    """Users write effects, and their clients' errors quote requests."""
    account.downstream.raises = ValueError(f"refused: {MARKER}")
    with pytest.raises(ValueError, match="refused"):
        _effect()


def test_the_reconciler(account: Account) -> None:
    now = wiring.clock()
    delivery = {
        "messageId": "m-0",
        "businessKey": KEY.pk,
        "namespace": KEY.sk,
        "body": MARKER,
        "attributes": {},
    }
    account.stepfunctions.executions["a"] = Execution(
        arn="e-1", input=json.dumps(delivery), status="ABORTED", started=now - 200, stopped=now - 100
    )
    assert reconciler.handler({}, Context()) == {"handled": 1}
    assert [copy["body"] for copy in account.sqs.sent] == [MARKER]


def test_the_reconciler_stops_in_time(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the five calls that one execution may take no longer fit."""
    now = wiring.clock()
    account.stepfunctions.executions["a"] = Execution(
        arn="e-1", status="ABORTED", started=now - 200, stopped=now - 100
    )
    monkeypatch.setattr(Context, "get_remaining_time_in_millis", lambda _: 5 * 4 * 1_000)
    assert reconciler.handler({}, Context()) == {"handled": 0}


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[registrations.Account]:
    register = registrations.Account()
    for name, value in registrations.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(wiring, "client", register.client)
    monkeypatch.setattr(wiring, "http_effect", register.http_effect)
    monkeypatch.setattr(wiring, "clock", lambda: register.now)
    made_once = (processor._processor, wiring.ssm_ledger)
    for each in made_once:
        each.cache_clear()
    yield register
    for each in made_once:
        each.cache_clear()


def _registration(number: int, **more: object) -> dict[str, object]:
    return {"recordId": f"REG-{number}", "effectiveDate": "2027-01-15", "holder": MARKER, **more}


def _telling(detail: object) -> dict[str, Any]:
    return {"id": "e-1", "source": "registrations", "detail-type": "RegistrationExpiry", "detail": detail}


def test_the_processor(register: registrations.Account) -> None:
    """Good and bad, side by side; a registration's id and date are its key, and no payload."""
    key = "RegistrationExpiry:REG-{}:2027-01-15"
    register.registry.raises = {
        key.format(1): Rejected(MARKER),
        key.format(2): NotApplied(MARKER),
        key.format(3): OutcomeUnknown("HTTP 500"),
    }
    register.holders.raises = {key.format(4) + ":notification": ValueError(f"refused: {MARKER}")}
    register.bucket.document = [
        *[_registration(number) for number in range(6)],
        _registration(6, effectiveDate=MARKER),
        {"recordId": [MARKER]},
        MARKER,
    ]
    counts = register.process({"source": "aws.scheduler", "detail": MARKER})
    assert counts == {"executed": 3, "dead": 1, "not-applied": 1, "unknown": 1, "invalid": 3}


@pytest.mark.parametrize(
    "detail",
    [
        MARKER,
        _registration(1, effectiveDate=MARKER),
        _registration(1, recordId=[MARKER]),
        _registration(1, effectiveDate="1999-01-01"),
        _registration(1),
    ],
    ids=["no object", "date", "id", "too late", "good"],
)
def test_the_processor_told_by_an_event(detail: object, register: registrations.Account) -> None:
    register.process(_telling(detail))
    register.process(_telling(detail) | {"detail-type": "something else"})


def test_the_sweeper(register: registrations.Account) -> None:
    register.process(_telling(_registration(1)))
    register.store.put_parameter(
        Name=f"{PREFIX}/by-hand", Value=MARKER, Type="String", Tier="Standard", Overwrite=False
    )
    register.now += 100 * 86_400
    with pytest.raises(sweeper.Unswept):
        register.sweep()
