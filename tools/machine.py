"""What can be found out about the machine that this runs on, with what Python brings and nothing else."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

ANSWER_SECONDS = 5


class Machine(NamedTuple):
    """What can be found out about a machine, and about what was installed in the repository's folder."""

    folder: Path
    home: Path
    etc: Path
    environment: Mapping[str, str]
    python: tuple[int, ...]
    finds: Callable[[str], bool]  # a command on the PATH
    imports: Callable[[str], bool]  # a module of this Python
    starts: Callable[[Path], bool]  # an interpreter
    answers: Callable[[str], bool]  # an address: with anything, refusals included
    free_bytes: int


def this_machine() -> Machine:
    folder = Path(__file__).resolve().parent.parent
    return Machine(
        folder=folder,
        home=Path.home(),
        etc=Path("/etc"),
        environment=os.environ,
        python=tuple(sys.version_info[:3]),
        finds=lambda command: shutil.which(command) is not None,
        imports=lambda module: importlib.util.find_spec(module) is not None,
        starts=starts,
        answers=answers,
        free_bytes=shutil.disk_usage(folder).free,
    )


def starts(interpreter: Path) -> bool:
    try:
        done = subprocess.run([str(interpreter), "-c", ""], capture_output=True, check=False)  # noqa: S603 - ours
    except OSError:
        return False
    return done.returncode == 0


def answers(address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).exists()
    try:
        urllib.request.urlopen(address, timeout=ANSWER_SECONDS).close()  # noqa: S310 - as the user has set it
    except urllib.error.HTTPError as refusal:
        refusal.close()
        return True
    except (OSError, ValueError, HTTPException):  # no connection, name, certificate; no address, no HTTP
        return False
    return True
