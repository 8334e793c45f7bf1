"""Chaos over a workload with a stack for each semantics: over both of them at the same time."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

from sandbox.aws import Sandbox
from sandbox.chaos.blowing import Blowing, blow
from sandbox.chaos.campaign import Campaign, Order
from sandbox.chaos.operation import Operation
from sandbox.chaos.report import LOGS
from sandbox.demo.both_semantics import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM, Half, deployed
from sandbox.demo.progress import Progress

S = TypeVar("S", bound=Blowing[Any])

Draw = Callable[..., Campaign[Any]]
Prepare = Callable[[str, Campaign[Any], ExitStack], Half[S]]
"""For a semantics; what is started goes on the stack."""


def run(
    workload: str,
    operations: Mapping[str, Sequence[Operation]],
    draw: Draw,
    prepare: Prepare[S],
    *,
    order: Order,
    progress: Progress,
) -> dict[str, Any]:
    """The report of one workload. Bounded in time; leaves nothing running. `operations` by semantics."""
    chances = {
        semantics: random.Random(f"{order.seed} {semantics}")  # noqa: S311 - to repeat, not a secret
        for semantics in (AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM)
    }
    campaigns = {
        semantics: draw(semantics[0].upper(), operations[semantics], order=order, chance=chance)
        for semantics, chance in chances.items()
    }
    begun = time.monotonic()
    with ExitStack() as started:
        halves = {
            semantics: prepare(semantics, campaign, started) for semantics, campaign in campaigns.items()
        }
        progress.step(f"{workload}: starting the AWS on this machine")
        sandbox = started.enter_context(Sandbox(faults=True, logs=LOGS / workload))
        progress.step("deploying under both semantics with cdk deploy")
        storms = deployed(workload, halves, sandbox)
        for semantics, storm in storms.items():
            storm.prepare(campaigns[semantics], operations[semantics], sandbox.faults, chances[semantics])
        report = blow(storms, sandbox, progress)
    return {"workload": workload, "seed": order.seed, "seconds": round(time.monotonic() - begun, 1), **report}
