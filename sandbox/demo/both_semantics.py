"""A workload's demo: half of the events under each semantics, sent, sent again, awaited and judged."""

import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from sandbox.aws import Sandbox
from sandbox.demo.progress import Progress
from sandbox.demo.storm import Storm
from sandbox.demo.tally import Run, together

LOGS = Path("build/demo/logs")

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
    events: int,
    duplicates_percent: int,
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """The report that `make demo` writes. Bounded in time; leaves nothing running."""
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
        progress.step(f"sending {events} events, {duplicates_percent} % of them twice")
        with progress.following(lambda: _seen(storms)):
            blowing = {semantics: _beside(storm.blow) for semantics, storm in storms.items()}
            runs = {semantics: storm.result() for semantics, storm in blowing.items()}
        progress.step("stopping the AWS on this machine")
    return together(
        runs,
        seconds=time.monotonic() - begun,
        workload=workload,
        seed=seed,
        duplicates_percent=duplicates_percent,
    )


def _beside(call: Callable[[], Run]) -> Future[Run]:
    """Runs `call` in a thread that an interrupted demo does not wait for: what it talks to is gone then."""
    outcome: Future[Run] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome


def _seen(storms: dict[str, Storm[Any]]) -> str:
    return "   ".join(
        f"{semantics}: {storm.sent}/{storm.planned} sent, {storm.effects} effects ({storm.doing})"
        for semantics, storm in storms.items()
    )
