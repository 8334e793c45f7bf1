"""The deployed orders API under test: who calls it, and what its answers promise."""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from botocore.credentials import Credentials

from orders.idempotency_key import HEADER
from orders.records import Request
from sandbox.aws import Sandbox
from sandbox.demo.orders_callers import Caller, callers
from sandbox.demo.orders_client import OrdersApi, Reply
from sandbox.demo.orders_deployment import Orders
from sandbox.deployment import ACCOUNT
from sandbox.downstream import Downstream
from tests.orders_document import ORDER_STATUS, PLACE_ORDER, document
from tests.sandbox.deployed import PAYLOAD_MARKER, eventually

T = TypeVar("T")

ANN, BEN, SHOP, EVE = (
    "ann",
    "ben",
    "shop",
    "eve",
)  # two users, a role with several sessions, one without grants


class DeployedOrders:
    """Each test uses keys of its own, so that tests don't meet although the deployment is shared."""

    def __init__(
        self, sandbox: Sandbox, outputs: dict[str, str], *, payment: Downstream, provisioning: Downstream
    ) -> None:
        self.sandbox = sandbox
        self.outputs = outputs
        self.faults = sandbox.faults
        self.deployment = Orders(sandbox, outputs)
        self.payment = payment
        self.provisioning = provisioning
        self.callers: Mapping[str, Caller] = callers(sandbox, outputs["ApiId"])
        self._api = OrdersApi(sandbox.endpoint, outputs)
        self._numbers = iter(range(1_000_000))

    @property
    def url(self) -> str:
        """As `ApiUrl`, where the emulator serves it."""
        stage = self.outputs["ApiUrl"].rpartition("/")[2]
        return f"{self.sandbox.endpoint}/restapis/{self.outputs['ApiId']}/{stage}/_user_request_"

    def key(self) -> str:
        """A new one."""
        return f"key-{next(self._numbers):08}"

    def send(
        self, body: bytes, *, headers: Sequence[tuple[str, str]], credentials: Credentials | None
    ) -> Reply:
        reply = self._api.post(body, headers=headers, credentials=credentials)
        assert reply is not None
        return reply

    def post(self, key: str, body: bytes, *, caller: str = ANN) -> Reply:
        return self.send(body, headers=[(HEADER, key)], credentials=self.callers[caller]())

    def get(self, key: str, *, caller: str = ANN) -> Reply:
        return self._api.get(key, credentials=self.callers[caller]())

    def get_unsigned(self, key: str) -> Reply:
        return self._api.get(key, credentials=None)

    def warm_up(self, requests: int) -> None:
        """Starts the processes that so many requests at once will need, so that none is slow for that."""
        credentials = self.callers[ANN]()
        all_at_once([partial(self.send, b"", headers=[], credentials=credentials)] * requests)

    def ended(self, key: str, *, caller: str = ANN, seconds: float = 60) -> dict[str, Any]:
        """The status that the caller is told, once the order has ended."""

        def end() -> dict[str, Any] | None:
            told = self.get(key, caller=caller).json
            return told if told["status"] in ("SUCCEEDED", "FAILED") else None

        return eventually(end, seconds=seconds, every=0.2)

    def request(self, key: str, *, user: str = ANN) -> Request:
        """As the functions know it."""
        unique_id = self.sandbox.client("iam").get_user(UserName=user)["User"]["UserId"]
        return Request(caller=f"user:{ACCOUNT}:{unique_id}", key=key)

    def executions(self, key: str, *, user: str = ANN) -> list[str]:
        """The names of the executions that were started for a user's key, whatever the order's id."""
        wanted = self.request(key, user=user).id
        describe = self.sandbox.client("stepfunctions").describe_execution
        started = [describe(executionArn=each["executionArn"]) for each in self.deployment.executions()]
        return [each["name"] for each in started if json.loads(each["input"])["requestId"] == wanted]

    def charges(self, order: str) -> int:
        """How often the payment of an order took place."""
        return sum(
            exchange.effect
            for exchange in self.payment.calls
            if json.loads(exchange.call.body)["orderId"] == order
        )


def order(*skus: str, amount: str = "19.90") -> bytes:
    """The body of one with these items, by default of one item."""
    return json.dumps(
        {
            "payment": {"amount": amount, "currency": "EUR", "token": PAYLOAD_MARKER},
            "items": [{"sku": sku, "quantity": 1} for sku in skus or ("SKU-1",)],
        }
    ).encode()


def placed(reply: Reply) -> Reply:
    """Fails unless it is an answer to a POST that the document promises."""
    document().judge(PLACE_ORDER, status=reply.status, headers=reply.headers, body=reply.body)
    return reply


def told(reply: Reply) -> Reply:
    """Fails unless it is an answer to a GET that the document promises."""
    document().judge(ORDER_STATUS, status=reply.status, headers=reply.headers, body=reply.body)
    return reply


def problem(reply: Reply) -> tuple[int, str]:
    """The status, and the last part of the problem's type."""
    return reply.status, str(reply.json.get("type")).rpartition(":")[2]


def all_at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    with ThreadPoolExecutor(len(calls)) as threads:
        return [each.result() for each in [threads.submit(call) for call in calls]]
