"""A workload's demo: its storm over a stack of each semantics, half of the events over each."""

import random
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Protocol, TypeVar

from sandbox.aws import Sandbox
from sandbox.demo.beside import beside
from sandbox.demo.progress import Progress
from sandbox.demo.report import LOGS
from sandbox.demo.storm import Storm
from sandbox.demo.tally import Run, together

AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM = "at-most-once", "idempotent-downstream"


P_co = TypeVar("P_co", covariant=True)
P_contra = TypeVar("P_contra", contravariant=True)
S = TypeVar("S", bound=Storm[Any])
S_co = TypeVar("S_co", bound=Storm[Any], covariant=True)
T = TypeVar("T")


class Half(Protocol[S_co]):
    """One semantics' share of the events, its downstreams running. `context` tells the CDK where they are."""

    @property
    def context(self) -> Mapping[str, str]: ...

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> S_co: ...


class Draw(Protocol[P_co]):
    """Plans a semantics' share of the demo; `duplicates` is per cent of the events."""

    def __call__(self, prefix: str, *, events: int, duplicates: int, chance: random.Random) -> P_co: ...


class Prepare(Protocol[P_contra]):
    """What is started goes on the stack."""

    def __call__(self, semantics: str, plan: P_contra, started: ExitStack) -> Half[Storm[Any]]: ...


def run(
    workload: str,
    draw: Draw[T],
    prepare: Prepare[T],
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
            semantics: prepare(
                semantics,
                draw(semantics[0].upper(), events=own, duplicates=duplicates_percent, chance=chance),
                started,
            )
            for semantics, own in share.items()
        }
        progress.step("starting the AWS on this machine")
        sandbox = started.enter_context(Sandbox(logs=LOGS))
        progress.step(f"deploying {workload} under both semantics with cdk deploy")
        storms = deployed(workload, halves, sandbox)
        progress.step(f"{events} {of}, {duplicates_percent} % of them {again}")
        runs = blown(storms, progress)
        progress.step("stopping the AWS on this machine")
    return together(
        runs,
        seconds=time.monotonic() - begun,
        workload=workload,
        seed=seed,
        duplicates_percent=duplicates_percent,
    )


def deployed(workload: str, halves: Mapping[str, Half[S]], sandbox: Sandbox) -> dict[str, S]:
    """By semantics, the storm over each one's stack."""
    context = {name: value for half in halves.values() for name, value in half.context.items()}
    outputs = sandbox.deploy("sandbox/app.py", context={"workload": workload, **context})
    return {
        semantics: half.storm(sandbox, outputs[f"sandbox-{workload}-{semantics}"])
        for semantics, half in halves.items()
    }


def blown(storms: Mapping[str, Storm[Any]], progress: Progress) -> dict[str, Run]:
    """What became of the events of each storm; they blow at the same time."""
    with progress.following(lambda: _seen(storms)):
        blowing = {semantics: beside(storm.blow) for semantics, storm in storms.items()}
        return {semantics: storm.result() for semantics, storm in blowing.items()}


def _seen(storms: Mapping[str, Storm[Any]]) -> str:
    return "   ".join(f"{semantics}: {storm.progress}" for semantics, storm in storms.items())
