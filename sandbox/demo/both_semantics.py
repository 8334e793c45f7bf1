"""A workload's demo: its storm over a stack of each semantics, half of the events over each."""

import random
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Protocol

from sandbox.aws import Sandbox
from sandbox.demo.beside import beside
from sandbox.demo.progress import Progress
from sandbox.demo.report import LOGS
from sandbox.demo.storm import Storm
from sandbox.demo.tally import together

AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM = "at-most-once", "idempotent-downstream"


class Half(Protocol):
    """One semantics' share of the demo, its downstreams running. `context` tells the CDK where they are."""

    @property
    def context(self) -> Mapping[str, str]: ...

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> Storm[Any]: ...


class Prepare(Protocol):
    """What is started goes on the stack; `duplicates` is per cent of the events."""

    def __call__(
        self, semantics: str, started: ExitStack, *, events: int, duplicates: int, chance: random.Random
    ) -> Half: ...


def run(
    workload: str,
    prepare: Prepare,
    *,
    of: str = "events",
    again: str = "sent twice",
    events: int,
    duplicates_percent: int,
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """The report that `make demo` writes. Bounded in time; leaves nothing running.

    `of` and `again` say in the workload's words what the events are, and how some of them come again.
    """
    begun = time.monotonic()
    chance = random.Random(seed)  # noqa: S311 - a plan to repeat, not a secret
    share = {AT_MOST_ONCE: events - events // 2, IDEMPOTENT_DOWNSTREAM: events // 2}
    with ExitStack() as started:
        halves = {
            semantics: prepare(semantics, started, events=own, duplicates=duplicates_percent, chance=chance)
            for semantics, own in share.items()
        }
        progress.step("starting the AWS on this machine")
        sandbox = started.enter_context(Sandbox(logs=LOGS))
        progress.step(f"deploying {workload} under both semantics with cdk deploy")
        context = {name: value for half in halves.values() for name, value in half.context.items()}
        outputs = sandbox.deploy("sandbox/app.py", context={"workload": workload, **context})
        storms = {
            semantics: half.storm(sandbox, outputs[f"sandbox-{workload}-{semantics}"])
            for semantics, half in halves.items()
        }
        progress.step(f"{events} {of}, {duplicates_percent} % of them {again}")
        with progress.following(lambda: _seen(storms)):
            blowing = {semantics: beside(storm.blow) for semantics, storm in storms.items()}
            runs = {semantics: storm.result() for semantics, storm in blowing.items()}
        progress.step("stopping the AWS on this machine")
    return together(
        runs,
        seconds=time.monotonic() - begun,
        workload=workload,
        seed=seed,
        duplicates_percent=duplicates_percent,
    )


def _seen(storms: dict[str, Storm[Any]]) -> str:
    return "   ".join(f"{semantics}: {storm.progress}" for semantics, storm in storms.items())
