"""What can be found out about the machine that this runs on, with what Python brings and nothing else."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple


class Machine(NamedTuple):
    """What can be found out about a machine, and about what was installed in the repository's folder."""

    folder: Path
    home: Path
    environment: Mapping[str, str]
    python: tuple[int, ...]
    finds: Callable[[str], bool]  # a command on the PATH
    imports: Callable[[str], bool]  # a module of this Python
    starts: Callable[[Path], bool]  # an interpreter
    free_bytes: int


def this_machine() -> Machine:
    folder = Path(__file__).resolve().parent.parent
    return Machine(
        folder=folder,
        home=Path.home(),
        environment=os.environ,
        python=tuple(sys.version_info[:3]),
        finds=lambda command: shutil.which(command) is not None,
        imports=lambda module: importlib.util.find_spec(module) is not None,
        starts=starts,
        free_bytes=shutil.disk_usage(folder).free,
    )


def starts(interpreter: Path) -> bool:
    try:
        done = subprocess.run([str(interpreter), "-c", ""], capture_output=True, check=False)  # noqa: S603 - ours
    except OSError:
        return False
    return done.returncode == 0
