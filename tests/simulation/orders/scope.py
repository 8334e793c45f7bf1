"""Clients that use one key at once, each until it hears an answer: one order, one execution, one body."""

import json
from functools import partial
from types import SimpleNamespace
from typing import Any

from idempotency.model import Semantics
from orders.accept_order import Acceptance
from orders.endpoint import answered
from orders.records import Orders
from tests.simulation.aws.dynamodb import DynamoDB
from tests.simulation.aws.executions import ExecutionAlreadyExists
from tests.simulation.exhaustive import Search
from tests.simulation.quiet import quiet
from tests.simulation.telling import tell
from tests.simulation.wire import Wire
from tests.ssm.resending import Resending
from tests.unit.orders.requests import BODY, OTHER_BODY, post

TABLE, RETENTION = "orders", 100_000
_SDK_ATTEMPTS = 2
_TRIES = 3
_GATEWAY_SECONDS = 29


class Started:
    """StartExecution: a name is taken for good, and the same input again is the same execution."""

    exceptions = SimpleNamespace(ExecutionAlreadyExists=ExecutionAlreadyExists)

    def __init__(self) -> None:
        self.inputs: dict[str, str] = {}

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> None:  # noqa: A002, ARG002, N803
        if self.inputs.setdefault(name, input) != input:
            raise ExecutionAlreadyExists


class Acceptances:
    """The last of the clients has another body than the others."""

    def __init__(self, search: Search, _semantics: Semantics, clients: int) -> None:
        self._search = search
        self._dynamodb = DynamoDB({TABLE: ("pk", "sk")})
        self._started = Started()
        self._bodies = [BODY] * (clients - 1) + [OTHER_BODY]
        self._answers: dict[int, tuple[int, dict[str, Any]]] = {}
        self._ids: list[str] = []
        self._acceptance = Acceptance(
            orders=Orders(self._client(self._dynamodb), TABLE, retention=RETENTION),
            stepfunctions=self._client(self._started),
            machine="machine",
            clock=search.clock,
            new_order_id=self._new_order_id,
        )

    def run(self) -> None:
        with quiet():
            for number, body in enumerate(self._bodies):
                self._search.start(f"client {number}", partial(self._ask, number, body))
            self._search.run()
            self._search.settle()
            self._ask_once_more()
        self._judge()

    def services(self) -> object:
        return self._dynamodb.held(), sorted(self._started.inputs.items()), sorted(self._answers), self._ids

    def _ask(self, number: int, body: str) -> None:
        for _ in range(_TRIES):
            heard: list[dict[str, Any]] = []
            worker = self._search.start(
                f"accept_order for {number}",
                lambda heard=heard: heard.append(  # type: ignore[misc]
                    answered(lambda: self._acceptance.accept(post(body)))
                ),
                lifetime=_GATEWAY_SECONDS,
            )
            self._search.wait_for([worker])
            if heard and heard[0]["statusCode"] != 503:
                self._answers[number] = heard[0]["statusCode"], json.loads(heard[0]["body"])
                return
            self._search.pause(1)

    def _ask_once_more(self) -> None:
        """With nothing going wrong any more."""
        for number, body in enumerate(self._bodies):
            self._search.start(f"client {number} in the end", partial(self._ask, number, body))
        self._search.run()

    def _judge(self) -> None:
        accepted = {n: answer for n, (status, answer) in self._answers.items() if status == 202}
        refused = {n for n, (status, _) in self._answers.items() if status == 409}
        faults = {
            "somebody has no answer": len(accepted) + len(refused) < len(self._bodies),
            "two bodies are accepted": len({self._bodies[n] for n in accepted}) != 1,
            "one body is accepted and refused": bool(
                {self._bodies[n] for n in accepted} & {self._bodies[n] for n in refused}
            ),
            "one key has two orders": len({answer["id"] for answer in accepted.values()}) != 1,
            "not one execution is started": len(self._started.inputs) != 1,
        }
        for fault, is_there in faults.items():
            if is_there:
                raise self._search.violation(f"{fault}: {self._answers}, {self._started.inputs}")

    def _client(self, service: Any) -> Any:
        return Resending(Wire(self._search, service, tell=tell), attempts=_SDK_ATTEMPTS)

    def _new_order_id(self) -> str:
        self._ids.append(f"order-{len(self._ids) + 1}")
        return self._ids[-1]
