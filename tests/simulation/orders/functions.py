"""The functions of orders as Lambda runs them, with a simulation's clients, clock and chance."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from botocore.exceptions import BotoCoreError, ClientError

import wiring
from orders import accept_order, order_table, tasks
from powertools_fencing import ClaimLost, calls
from tests.simulation.orders.downstream import OrderDownstream
from tests.simulation.orders.setting import OVERRUN
from tests.simulation.orders.tasks import Invocations
from tests.simulation.quiet import quiet
from tests.simulation.scheduler import Scheduler
from tests.ssm.resending import TRANSIENT
from tests.statemachines import orders_clock


@dataclass(frozen=True, slots=True)
class Context:
    """What Lambda tells a function of its invocation; the moment after its timeout is not mentioned."""

    scheduler: Scheduler
    function_name: str = "-"
    memory_limit_in_mb: str = "-"
    invoked_function_arn: str = "-"
    aws_request_id: str = "-"

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.scheduler.time_left() - OVERRUN) * 1000))


class Outages:
    """A client that remembers which invocations AWS left without an answer, or refused for now."""

    def __init__(self, scheduler: Scheduler, client: Any, met_by: set[str]) -> None:
        self._scheduler = scheduler
        self._client = client
        self._met_by = met_by

    def __getattr__(self, operation: str) -> Any:
        call = getattr(self._client, operation)
        if not callable(call):
            return call

        def heard(**arguments: Any) -> Any:
            try:
                return call(**arguments)
            except BotoCoreError:
                self._met_by.add(self._scheduler.running)
                raise
            except ClientError as error:
                if error.response["Error"]["Code"] in TRANSIENT:
                    self._met_by.add(self._scheduler.running)
                raise

        return heard


@contextmanager
def deployed(
    scheduler: Scheduler,
    *,
    clients: Mapping[str, Any],
    environment: Mapping[str, str],
    downstream: OrderDownstream,
    invocations: Invocations,
    on_claim_lost: Callable[[ClaimLost], None],
) -> Iterator[None]:
    """What the handlers are given by Lambda and by chance, until the end of the run."""
    numbers = count(1)
    cached: tuple[Callable[..., Any], ...] = (order_table.orders, tasks._layer, accept_order._acceptance)
    with ExitStack() as stack, pytest.MonkeyPatch.context() as monkeypatch:
        stack.enter_context(quiet())
        stack.enter_context(patch.dict(os.environ, environment))
        orders_clock.install(monkeypatch, lambda: scheduler.now + scheduler.process.skew)
        monkeypatch.setattr(wiring, "client", clients.__getitem__)
        monkeypatch.setattr(wiring, "clock", scheduler.clock)
        monkeypatch.setattr(wiring, "http_effect", lambda _: downstream)
        monkeypatch.setattr(tasks, "_lost", on_claim_lost)
        monkeypatch.setattr(calls, "uuid4", lambda: SimpleNamespace(hex=invocations.token()))
        monkeypatch.setattr(accept_order, "uuid", SimpleNamespace(uuid4=lambda: f"order-{next(numbers)}"))
        for function in cached:
            function.cache_clear()  # type: ignore[attr-defined] # made by `cache`
            stack.callback(function.cache_clear)  # type: ignore[attr-defined]
        yield
