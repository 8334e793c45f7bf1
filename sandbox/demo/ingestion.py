"""The ingestion demo: half of the events under each semantics, sent, sent again, awaited and judged."""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from sandbox.aws import Sandbox
from sandbox.demo.deployment import Ingestion
from sandbox.demo.ingestion_plan import answers, plan
from sandbox.demo.progress import Progress
from sandbox.demo.storm import Storm
from sandbox.demo.tally import Run, together
from sandbox.downstream import Downstream

LOGS = Path("build/demo/logs")

AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM = "at-most-once", "idempotent-downstream"


def run(*, events: int, duplicates_percent: int, seed: int, progress: Progress) -> dict[str, Any]:
    """The report that `make demo` writes. Bounded in time; leaves nothing running."""
    begun = time.monotonic()
    chance = random.Random(seed)  # noqa: S311 - a plan to repeat, not a secret
    share = {AT_MOST_ONCE: events - events // 2, IDEMPOTENT_DOWNSTREAM: events // 2}
    plans = {
        semantics: plan(semantics[0].upper(), events=own, duplicates=duplicates_percent, chance=chance)
        for semantics, own in share.items()
    }
    progress.step("starting the AWS on this machine")
    with ExitStack() as started:
        downstreams = {
            semantics: started.enter_context(
                Downstream(
                    partial(answers, {event.id: event for event in own.events}),
                    dedupe=semantics == IDEMPOTENT_DOWNSTREAM,
                )
            )
            for semantics, own in plans.items()
        }
        sandbox = started.enter_context(Sandbox(logs=LOGS))
        progress.step("deploying the stack under both semantics with cdk deploy")
        outputs = sandbox.deploy(
            "sandbox/app.py", context={f"effectUrl:{name}": calls.url for name, calls in downstreams.items()}
        )
        storms = {
            semantics: Storm(
                own, Ingestion(sandbox, outputs[f"sandbox-ingestion-{semantics}"]), downstreams[semantics]
            )
            for semantics, own in plans.items()
        }
        progress.step(f"sending {events} events, {duplicates_percent} % of them twice")
        with progress.following(lambda: _seen(storms)):
            blowing = {semantics: _beside(storm.blow) for semantics, storm in storms.items()}
            runs = {semantics: storm.result() for semantics, storm in blowing.items()}
        progress.step("stopping the AWS on this machine")
    return together(
        runs,
        seconds=time.monotonic() - begun,
        workload="ingestion",
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


def _seen(storms: dict[str, Storm]) -> str:
    return "   ".join(
        f"{semantics}: {storm.sent}/{storm.planned} sent, {storm.effects} effects ({storm.doing})"
        for semantics, storm in storms.items()
    )
