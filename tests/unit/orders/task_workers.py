"""The two task functions as Lambda calls them, real layer and all, and the downstreams that they call."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

import wiring
from orders import charge_payment, provision_item, tasks
from tests.unit.orders.requests import ORDER
from tests.unit.orders.tables import TASKS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

RETENTION, MARGIN = 1_300_000, 5
EXECUTION, OTHER_EXECUTION = "a" * 64, "b" * 64

Play = Callable[[str], str | None]  # is given the receipt that the downstream has for the key


class Dies(BaseException):
    """A crash or a timeout: the process is gone, and with it whatever would have been written."""


def receives(receipt: str) -> str:
    return receipt


def raising(error: BaseException) -> Play:
    def play(_receipt: str) -> str | None:
        raise error

    return play


def answering(text: str | None) -> Play:
    return lambda _receipt: text


@dataclass
class Downstream:
    """Honours the idempotency key, as it must: one receipt a key. Counts every call."""

    plays: list[Play] = field(default_factory=list)  # of the first calls; then it works
    calls: list[dict[str, Any]] = field(default_factory=list)
    receipts: dict[str, str] = field(default_factory=dict)

    def post(self, body: str, *, idempotency_key: str, attempt: int) -> dict[str, Any]:
        self.calls.append({"key": idempotency_key, "attempt": attempt, "content": json.loads(body)})
        play = self.plays.pop(0) if self.plays else receives
        receipt = self.receipts.get(idempotency_key, f"receipt-{len(self.receipts) + 1}")
        answer = play(receipt)
        self.receipts[idempotency_key] = receipt
        return {"status": 200, "body": answer}

    @property
    def keys(self) -> list[str]:
        return [call["key"] for call in self.calls]


@dataclass
class Context:
    milliseconds: int = 30_000
    function_name = memory_limit_in_mb = invoked_function_arn = aws_request_id = "-"

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


@dataclass
class Workers:
    payment: Downstream = field(default_factory=Downstream)
    provisioning: Downstream = field(default_factory=Downstream)

    def charge(
        self,
        execution: str = EXECUTION,
        *,
        retry: int = 0,
        milliseconds: int = 30_000,
        payment: Any = ORDER["payment"],
    ) -> dict[str, str]:
        event = {
            "execution": execution,
            "orderId": "O-1",
            "payment": payment,
            "retryCount": retry,
        }
        return charge_payment.handler(event, Context(milliseconds))

    def provision(
        self, number: int, execution: str = EXECUTION, *, retry: int = 0, item: Any = ORDER["items"][0]
    ) -> dict[str, str]:
        event = {
            "execution": execution,
            "orderId": "O-1",
            "item": item,
            "number": number,
            "retryCount": retry,
        }
        return provision_item.handler(event, Context())


@contextmanager
def workers(client: "DynamoDBClient", monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    wired = Workers()
    effects = {"PAYMENT": wired.payment, "PROVISIONING": wired.provisioning}
    monkeypatch.setenv("TASKS_TABLE", TASKS)
    monkeypatch.setenv("TASK_RETENTION_SECONDS", str(RETENTION))
    monkeypatch.setenv("MARGIN_SECONDS", str(MARGIN))
    monkeypatch.setattr(wiring, "client", {"dynamodb": client}.__getitem__)
    monkeypatch.setattr(wiring, "http_effect", effects.__getitem__)
    tasks._layer.cache_clear()
    yield wired
    tasks._layer.cache_clear()
