"""The orders demo: one stack, whose payment and provisioning providers honour idempotency keys."""

import random
import time
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeVar

from sandbox.aws import Sandbox
from sandbox.demo.beside import beside
from sandbox.demo.orders_callers import callers
from sandbox.demo.orders_client import OrdersApi
from sandbox.demo.orders_deployment import Orders
from sandbox.demo.orders_plan import OrdersPlan, charges, plan, provisions
from sandbox.demo.orders_storm import OrdersStorm
from sandbox.demo.progress import Progress
from sandbox.demo.report import LOGS
from sandbox.demo.tally import alone
from sandbox.downstream import Downstream

S = TypeVar("S", bound=OrdersStorm)


def run(*, events: int, duplicates_percent: int, seed: int, progress: Progress) -> dict[str, Any]:
    """The report that `make demo` writes. Bounded in time; leaves nothing running."""
    begun = time.monotonic()
    chance = random.Random(seed)  # noqa: S311 - a plan to repeat, not a secret
    planned = plan(events=events, duplicates=duplicates_percent, chance=chance)
    with ExitStack() as started:
        progress.step("starting the AWS on this machine")
        sandbox = started.enter_context(Sandbox(logs=LOGS))
        progress.step("deploying orders with cdk deploy")
        storm = storm_over(planned, sandbox, started, storm=OrdersStorm)
        progress.step(f"{events} orders, {duplicates_percent} % of them asked for again")
        with progress.following(lambda: storm.progress):
            seen = beside(storm.blow).result()
        progress.step("stopping the AWS on this machine")
    return alone(
        seen,
        seconds=time.monotonic() - begun,
        workload="orders",
        seed=seed,
        duplicates_percent=duplicates_percent,
    )


def storm_over(planned: OrdersPlan, sandbox: Sandbox, started: ExitStack, *, storm: type[S]) -> S:
    """Over a stack that is deployed for it; its providers go on the stack of what is `started`."""
    orders = {order.id: order for order in planned.events}
    payment = started.enter_context(Downstream(partial(charges, orders), dedupe=True))
    provisioning = started.enter_context(Downstream(partial(provisions, orders), dedupe=True))
    context = {"paymentUrl": payment.url, "provisioningUrl": provisioning.url}
    outputs = sandbox.deploy("sandbox/app.py", context={"workload": "orders", **context})["sandbox-orders"]
    return storm(
        planned,
        Orders(sandbox, outputs),
        api=OrdersApi(sandbox.endpoint, outputs),
        callers=callers(sandbox, outputs["ApiId"]),
        payment=payment,
        provisioning=provisioning,
    )
