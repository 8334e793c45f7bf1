"""Says what this machine lacks, a line each with its mend: `make doctor`, or `python3 -m tools.doctor`.

It runs before anything is installed, on whatever Python there is, and so imports nothing but Python's own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.machine import Machine, this_machine

OLDEST_PYTHON = (3, 11)
FREE_BYTES = 2 * 1024**3  # .venv, node_modules, build and what a run of the sandbox writes

OK, MISSING, LATER = "ok", "MISSING", "later"


class Line(NamedTuple):
    """`state`: there; needed and missing; or needed for one purpose only, which the text names."""

    state: str
    text: str


def examine(machine: Machine) -> Iterator[Line]:
    yield from _python(machine)
    yield from _commands(machine)
    yield from _folder(machine)
    yield from _purposes(machine)


def _python(machine: Machine) -> Iterator[Line]:
    version = ".".join(str(part) for part in machine.python)
    if machine.python < OLDEST_PYTHON:
        yield Line(
            MISSING, f"Python 3.11 or newer (this is {version}): install one, then make PYTHON=python3.13 …"
        )
    else:
        yield Line(OK, f"Python {version}")
    if not (machine.imports("venv") and machine.imports("ensurepip")):
        yield Line(
            MISSING, "Python's venv and ensurepip: apt install python3-venv, or what your system calls it"
        )
    if not machine.imports("fcntl"):
        yield Line(MISSING, "a Unix: Linux or macOS; on Windows, work in WSL")


def _commands(machine: Machine) -> Iterator[Line]:
    for command in ("make", "git", "bash", "awk"):
        if machine.finds(command):
            yield Line(OK, command)
        else:
            yield Line(MISSING, f"{command}: apt install {_package(command)}, brew install {command}")


def _package(command: str) -> str:
    return "gawk" if command == "awk" else command


def _folder(machine: Machine) -> Iterator[Line]:
    if not os.access(machine.folder, os.W_OK):
        yield Line(
            MISSING, f"the right to write in {machine.folder}, where everything is installed: chown it"
        )
    interpreter = machine.folder / ".venv" / "bin" / "python"
    if (interpreter.is_symlink() or interpreter.exists()) and not machine.starts(interpreter):
        yield Line(
            MISSING, ".venv's Python, which has gone since .venv was made: make clean, then make setup"
        )
    if _installed(machine):
        yield Line(OK, "what make setup installs")
        return
    yield Line(LATER, "what make setup installs: every other target runs it first")
    if machine.free_bytes < FREE_BYTES:
        yield Line(
            MISSING, f"{FREE_BYTES >> 30} GB of free disk (there are {machine.free_bytes / 2**30:.1f})"
        )


def _installed(machine: Machine) -> bool:
    """As make judges it: by the time of what says so, and of what it was installed from."""
    return all(
        _newer(machine.folder / made, [machine.folder / source for source in sources])
        for made, sources in (
            (".venv/.installed", ["requirements.txt", "requirements-dev.txt", "constraints.txt"]),
            ("node_modules/.package-lock.json", ["package.json", "package-lock.json"]),
            ("build/layer", []),
        )
    )


def _newer(made: Path, sources: list[Path]) -> bool:
    return made.exists() and all(source.stat().st_mtime <= made.stat().st_mtime for source in sources)


def _purposes(machine: Machine) -> Iterator[Line]:
    given = {"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"} & set(machine.environment)
    if not given and not (machine.home / ".aws" / "config").is_file():
        yield Line(LATER, "AWS credentials, for make deploy and nothing else: aws configure sso")
    if not machine.finds("pre-commit"):
        yield Line(
            LATER, "pre-commit, for checks at each commit: pipx install pre-commit && pre-commit install"
        )


def main() -> int:
    lines = list(examine(this_machine()))
    missing = sum(line.state == MISSING for line in lines)
    for line in lines:
        print(f"  {line.state:8} {line.text}")  # noqa: T201 - what it is for
    print(f"{missing} missing" if missing else "Nothing that is needed is missing.")  # noqa: T201
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
