"""How long `cdk synth` of all four stacks takes, beside an app of one queue, and what takes it."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bench.row import Goal, Row, Sample
from sandbox.demo.progress import Progress
from sandbox.deployment import CDK, PROJECT, TOOLS

_OURS, _ONE_QUEUE = ("-P", "app.py"), ("-P", str(PROJECT / "bench" / "peers" / "one_queue.py"))
_NO_VALIDATION = {"CDK_VALIDATION": "false"}
_LIMIT = 1.5

_SYNTHS: dict[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "all stacks": (_OURS, {}),
    "all stacks, validation off": (_OURS, _NO_VALIDATION),
    "one queue": (_ONE_QUEUE, {}),
    "one queue, validation off": (_ONE_QUEUE, _NO_VALIDATION),
}

# Each does a little more than the one before: what it takes longer is what that takes.
_PARTS: dict[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "Python and the CDK's library, which starts Node.js": (("-c", "import aws_cdk"), {}),
    "the CDK's modules for the services, and ours": (("-P", "-c", "import app"), {}),
    "composing four stacks and writing their templates": (_OURS, _NO_VALIDATION),
    "validating the templates": (_OURS, {}),
}


def measure(progress: Progress, *, quick: bool) -> Row:
    rounds = 1 if quick else 7
    taken: dict[str, list[float]] = {name: [] for name in [*_SYNTHS, *_PARTS]}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(-1, rounds):  # the round before the first fills the caches
            progress.step(f"synthesizing, round {number + 1} of {rounds}")
            for name, (arguments, environment) in _SYNTHS.items():
                seconds = _synthesize(arguments, environment, Path(folder))
                taken[name] += [seconds] if number >= 0 else []
            for name, (arguments, environment) in _PARTS.items():
                seconds = _run([sys.executable, *arguments], environment, Path(folder))
                taken[name] += [seconds] if number >= 0 else []
    return _row({name: Sample.of(seconds) for name, seconds in taken.items()})


def _row(taken: Mapping[str, Sample]) -> Row:
    base = taken["one queue, validation off"]
    ratio = taken["all stacks, validation off"].ratio_to(base)
    ends = [taken[name].median for name in _PARTS]
    parts = [later - before for before, later in zip([0.0, *ends], ends, strict=False)]
    command_line = taken["all stacks"].median - ends[-1]
    return Row(
        title="cdk synth",
        goals=(
            Goal(
                what="all stacks, validation off, to an app of one queue",
                limit=f"≤ {_LIMIT} x",
                measured=f"{ratio:.2f} x",
                met=ratio <= _LIMIT,
            ),
        ),
        head=("", "ms, median (least-most)", "to one queue, validation off"),
        lines=(
            *((name, taken[name].in_milliseconds(), f"{taken[name].ratio_to(base):.2f}") for name in _SYNTHS),
            *(
                (f"of all stacks: {name}", f"{1000 * part:.0f}", "")
                for name, part in [*zip(_PARTS, parts, strict=True), ("the CDK's command line", command_line)]
            ),
        ),
        note="Wall time of `cdk synth --quiet`, taken in turn. The parts are differences of medians.",
    )


def _synthesize(arguments: tuple[str, ...], environment: Mapping[str, str], folder: Path) -> float:
    app = " ".join([sys.executable, *arguments])
    command = [
        str(CDK),
        "synth",
        "--quiet",
        "--app",
        app,
        "-c",
        "stage=dev",
        "--output",
        str(folder / "cdk.out"),
    ]
    return _run([*command, "--no-notices", "--no-version-reporting"], environment, folder)


def _run(command: list[str], environment: Mapping[str, str], folder: Path) -> float:
    """Seconds. The context is that of cdk.json, as the CDK's command line hands it on."""
    context = json.loads((PROJECT / "cdk.json").read_text(encoding="utf-8"))["context"] | {"stage": "dev"}
    begun = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=PROJECT,
        env={
            "PATH": f"{TOOLS}{os.pathsep}{os.defpath}",
            "HOME": str(Path.home()),  # where the CDK keeps its unpacked library
            "PYTHONPATH": str(PROJECT),
            "CDK_OUTDIR": str(folder / "assembly"),
            "CDK_CONTEXT_JSON": json.dumps(context),
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    seconds = time.perf_counter() - begun
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
    return seconds
