"""What `make demo` and `make test` take once everything is installed, beside what they took before."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from bench.revision import PROJECT, checked_out
from bench.row import Goal, Row, Sample
from sandbox.demo.progress import Progress

BEFORE = "6ed4985"
"""The last revision before anything was measured."""

_DEMO, _TEST = "make demo", "make test"
_TIMES = {_DEMO: 3, _TEST: 1}
_WITHIN_SECONDS = 1800
_TESTS_FAILED = 1  # some of them, as on a machine that is busy with other things: the run took what it took
_GOAL = 0.5


def measure(progress: Progress, *, quick: bool) -> Row:
    """`quick`: the demo, once, with few events."""
    with checked_out(BEFORE) as before:
        folders = {"now": PROJECT} if before is None else {"before": before, "now": PROJECT}
        for folder in folders.values():  # all that a first run makes is there
            _run([sys.executable, "-m", "stacks.vendor"], folder)
        taken: dict[str, dict[str, list[float]]] = {}
        for name, times in {_DEMO: 1}.items() if quick else _TIMES.items():
            for number in range(times):
                for when, folder in folders.items():
                    progress.step(f"{name} as it is {when}, run {number + 1} of {times}")
                    command = _demo(few=quick) if name == _DEMO else _tests(folder)
                    taken.setdefault(name, {}).setdefault(when, []).append(_run(command, folder))
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


def _demo(*, few: bool) -> list[str]:
    return [sys.executable, "-m", "sandbox.demo", *(["--events", "20"] if few else [])]


def _tests(folder: Path) -> list[str]:
    """What `make test` runs in this folder, without the setup that its files would have made anew."""
    [recipe] = re.findall(r"^test:.*\n\t@(.*)$", (folder / "Makefile").read_text(), re.MULTILINE)
    return str(recipe).split()


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
    seconds = time.perf_counter() - begun
    if done.returncode not in (0, _TESTS_FAILED if "pytest" in command else 0):
        raise RuntimeError(f"{' '.join(command)} failed in {folder.name}: {done.stdout[-2000:]}")
    return seconds
