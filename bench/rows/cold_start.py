"""What a cold start takes until AWS has answered a function's first call, beside the least it could take."""

import json
import os
import resource
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.row import Goal, Row, Sample
from bench.starts import deployed
from bench.starts.deployed import Function
from bench.starts.endpoint import answering
from bench.starts.events import EVENTS
from sandbox.aws import EMULATOR_PYTHON
from sandbox.demo.progress import Progress
from sandbox.deployment import PROJECT

BARE, LOGGING, POWERTOOLS = "bare_client", "logging_client", "powertools_handler"
_PEERS = {
    BARE: "boto3, one call",
    LOGGING: "boto3, one call, Powertools' Logger and a metric",
    POWERTOOLS: "a handler that Powertools makes idempotent, the same Logger and metric",
}
_TO_BARE, _TO_POWERTOOLS = 1.15, 0.8
_FIRST_CALL = PROJECT / "bench" / "starts" / "first_call.py"


def measure(progress: Progress, *, quick: bool) -> Row:
    rounds = 1 if quick else 15
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as made, answering() as endpoint:
        progress.step("synthesizing the functions, installing Powertools for its handler")
        functions = _functions(Path(made))
        for number in range(-1, rounds):  # the round before the first warms the caches up
            progress.step(f"{len(functions)} cold starts, round {number + 1} of {rounds}")
            for function in functions:
                seconds = start(function, endpoint)
                taken.setdefault(function.module, []).extend([seconds] if number >= 0 else [])
    return row({name: Sample.of(seconds) for name, seconds in taken.items()})


def _functions(folder: Path) -> list[Function]:
    """The peers get what makes them quickest: no layer where none is needed, ours where it is enough."""
    ours = deployed.ours(folder)
    layers = {
        BARE: folder / "no-layer",
        LOGGING: ours[0].layer,
        POWERTOOLS: deployed.powertools_layer(folder),
    }
    return [*(deployed.peer(name, folder, layer=layers[name]) for name in _PEERS), *ours]


def start(function: Function, endpoint: str) -> float:
    """Processor time of one cold start, in seconds, that of its interpreter included.

    As on Lambda the runtime's packages have their byte code; the function's code and layer have none, and
    none can be written. Raises RuntimeError if the function ends without a call.
    """
    event: Any = EVENTS.get(function.module, {"eventId": "E-1"})
    before = _used()
    done = subprocess.run(
        [str(EMULATOR_PYTHON), "-P", str(_FIRST_CALL), function.handler, json.dumps(event)],
        env={
            "PATH": os.defpath,
            "PYTHONDONTWRITEBYTECODE": "1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            **function.environment,
            "AWS_ENDPOINT_URL": endpoint,
            "PYTHONPATH": f"{function.code}{os.pathsep}{function.layer}",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    used = _used() - before
    if done.returncode != 0:
        raise RuntimeError(f"{function.handler} made no call: {done.stderr[-2000:]}")
    return used


def row(taken: Mapping[str, Sample]) -> Row:
    ours = [name for name in taken if name not in _PEERS]
    return Row(
        title="Cold start: processor time from a fresh interpreter to the first answer of AWS",
        goals=(
            _goal("boto3 with Logger and metric", ours, taken, LOGGING, _TO_BARE),
            _goal("Powertools' handler", ours, taken, POWERTOOLS, _TO_POWERTOOLS),
        ),
        head=("", "ms, median (least-most)", "to boto3 with Logger and metric", "to Powertools' handler"),
        lines=tuple(
            (
                _PEERS.get(name, name),
                taken[name].in_milliseconds(),
                *(f"{taken[name].ratio_to(taken[peer]):.2f}" for peer in (LOGGING, POWERTOOLS)),
            )
            for name in taken
        ),
        note="In turn, each in an interpreter of its own, whose botocore and boto3 are those of the sandbox."
        " Code and layer lie there without byte code, which Lambda can't write either. Bare boto3 has no"
        " layer, with Logger and metric it has ours; the handler with Powertools has the whole package.",
    )


def _goal(of: str, ours: Sequence[str], taken: Mapping[str, Sample], peer: str, limit: float) -> Goal:
    ratios = {name: taken[name].ratio_to(taken[peer]) for name in ours}
    beyond = [name for name in ours if ratios[name] > limit]
    told = f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f} x"
    return Goal(
        what=f"each function, to {of}",
        limit=f"≤ {limit} x",
        measured=f"{told}; beyond: {', '.join(beyond)}" if beyond else told,
        met=not beyond,
    )


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
