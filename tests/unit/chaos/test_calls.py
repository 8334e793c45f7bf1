"""The expressions by which chaos tells calls apart, over the requests that the deployed code makes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jmespath
import pytest

from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.adapters.ssm import SsmLedger
from idempotency.model import Key, Policy, Semantics
from sandbox.chaos import calls
from sandbox.chaos.operation import Call

POLICY = Policy(semantics=Semantics.IDEMPOTENT_DOWNSTREAM, margin=1)
NOW = 1_700_000_000
MINE: dict[str, Any] = {"owner": "me", "attempt": 1, "now": NOW}


@dataclass(frozen=True)
class Event:
    id: str

    @property
    def key(self) -> str:
        return f"RegistrationExpiry:{self.id}:2026-03-01"


EVENT, OTHER = Event("A-0001"), Event("A-00012")
KEY = Key(pk=f"event:{EVENT.id}", sk="ingestion")


class Recorded(Exception):  # noqa: N818 - what it is about
    """The request that a client was about to make."""

    def __init__(self, request: dict[str, Any]) -> None:
        super().__init__(request)
        self.request = request


class Recorder:
    def update_item(self, **request: Any) -> None:
        raise Recorded(request)


WRITES: dict[str, Callable[[DynamoDBLedger], object]] = {
    "claim": lambda ledger: ledger.claim(KEY, owner="me", now=NOW, lease=60, retention=600),
    "renew": lambda ledger: ledger.renew(KEY, **MINE, lease=60),
    "complete": lambda ledger: ledger.complete(KEY, **MINE, retention=600),
    "fail": lambda ledger: ledger.fail(KEY, **MINE, retention=600, reason="x"),
    "release": lambda ledger: ledger.release(KEY, **MINE, retention=600, reason="x"),
    "doubt": lambda ledger: ledger.doubt(KEY, **MINE, reason="x"),
}


@pytest.mark.parametrize("name", WRITES)
def test_each_write_of_the_ledger_has_its_own_expression(name: str) -> None:
    with pytest.raises(Recorded) as made:
        WRITES[name](DynamoDBLedger(Recorder(), "table", POLICY))

    request = made.value.request
    assert [each for each in WRITES if jmespath.search(calls.write(each)(EVENT), request)] == [name]
    assert not jmespath.search(calls.write(name)(OTHER), request)


class Store:
    """Keeps what is created, and the calls in short."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.made: list[dict[str, Any]] = []

    def get_parameters_by_path(self, **request: Any) -> dict[str, Any]:
        self.made.append(request)
        found = {name: value for name, value in self.values.items() if name.startswith(f"{request['Path']}/")}
        return {"Parameters": [{"Name": name, "Value": value} for name, value in found.items()]}

    def put_parameter(self, **request: Any) -> None:
        self.made.append(request)
        self.values[request["Name"]] = request["Value"]


STEPS: dict[str, tuple[Callable[[SsmLedger, Key], object] | None, Call]] = {
    "claim": (None, calls.step("IN_PROGRESS")),
    "complete": (lambda ledger, key: ledger.complete(key, **MINE, retention=600), calls.step("DONE")),
    "fail": (lambda ledger, key: ledger.fail(key, **MINE, retention=600, reason="x"), calls.step("FAILED")),
    "doubt": (lambda ledger, key: ledger.doubt(key, **MINE, reason="x"), calls.step("IN_DOUBT")),
    "release": (
        lambda ledger, key: ledger.release(key, **MINE, retention=600, reason="x"),
        calls.step("RELEASED"),
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_each_step_of_a_registrations_claim_has_its_own_expression(name: str) -> None:
    store = Store()
    ledger = SsmLedger(store, "/prefix", POLICY, pause=lambda _seconds: None)
    key = Key(pk=EVENT.key, sk="registrations")
    mark, _ = STEPS[name]

    ledger.claim(key, owner="me", now=NOW, lease=60, retention=600)
    if mark:
        mark(ledger, key)

    listing, *puts = store.made
    assert jmespath.search(calls.listing(EVENT), listing)
    assert not jmespath.search(calls.listing(OTHER), listing)
    assert [each for each, (_, call) in STEPS.items() if jmespath.search(call(EVENT), puts[-1])] == [name]
    assert not jmespath.search(STEPS[name][1](OTHER), puts[-1])


def test_the_report_of_a_failure_is_told_from_the_failure() -> None:
    store = Store()
    ledger = SsmLedger(store, "/prefix", POLICY, pause=lambda _seconds: None)
    key = Key(pk=EVENT.key, sk="registrations")
    ledger.claim(key, owner="me", now=NOW, lease=60, retention=600)
    record = ledger.fail(key, **MINE, retention=600, reason="x")
    ledger.report(record, now=NOW)

    told = calls.step("FAILED", note="REPORTED")(EVENT)
    assert [bool(jmespath.search(told, put)) for put in store.made if "Value" in put] == [False, False, True]
    failure = calls.step("FAILED")(EVENT)
    assert [bool(jmespath.search(failure, put)) for put in store.made if "Value" in put] == [
        False,
        True,
        False,
    ]
