"""What `make demo` and `make test` take once everything is installed, beside what they took before."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.revision import PROJECT, checked_out
from bench.row import Goal, Row, Sample
from sandbox.demo.progress import Progress

BEFORE = "6ed4985"
"""The last revision before anything was measured."""

_COMMANDS = {
    "make demo": [sys.executable, "-m", "sandbox.demo"],
    "make test": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
}
_TIMES = {"make demo": 3, "make test": 1}
_WITHIN_SECONDS = 1800
_GOAL = 0.5


def measure(progress: Progress, *, quick: bool) -> Row:
    """`quick`: the demo, once, with few events."""
    with checked_out(BEFORE) as before:
        folders = {"now": PROJECT} if before is None else {"before": before, "now": PROJECT}
        for folder in folders.values():  # all that a first run makes is there
            _run([sys.executable, "-m", "stacks.vendor"], folder)
        taken: dict[str, dict[str, list[float]]] = {}
        for name, command in _COMMANDS.items():
            if quick and name != "make demo":
                continue
            more = ["--events", "20"] if quick else []
            for number in range(1 if quick else _TIMES[name]):
                for when, folder in folders.items():
                    progress.step(f"{name} as it is {when}, run {number + 1}")
                    taken.setdefault(name, {}).setdefault(when, []).append(_run([*command, *more], folder))
    taken["make, nothing to do"] = {
        "now": [_run(["make", "setup", "sandbox-venv"], PROJECT) for _ in range(5)]
    }
    return _row({name: {when: Sample.of(s) for when, s in each.items()} for name, each in taken.items()})


def _row(taken: dict[str, dict[str, Sample]]) -> Row:
    ratios = {name: each["now"].ratio_to(each["before"]) for name, each in taken.items() if "before" in each}
    return Row(
        title="Second runs",
        goals=tuple(
            Goal(
                what=f"{name}, to before",
                limit=f"≤ {_GOAL} x",
                measured=f"{ratio:.2f} x",
                met=ratio <= _GOAL,
            )
            for name, ratio in ratios.items()
        ),
        head=("", "s before", "s now"),
        lines=tuple(
            (name, *(f"{each[when].median:,.1f}" if when in each else "" for when in ("before", "now")))
            for name, each in taken.items()
        ),
        note=f"Wall time with everything installed; before: revision {BEFORE}, in turn with now.",
    )


def _run(command: list[str], folder: Path) -> float:
    environment = {
        "PATH": f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(Path.home()),
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
    }
    begun = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_WITHIN_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{json.dumps(command)} failed in {folder.name}: {done.stdout[-2000:]}")
    return time.perf_counter() - begun
