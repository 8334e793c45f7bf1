"""Reads which processes run on this machine, on Linux and on macOS."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path


def members(group: int) -> dict[int, str]:
    """The processes of a group that still run, by process id, with their command lines; no zombies."""
    processes = _from_proc() if Path("/proc/self/cmdline").exists() else _from_ps()
    return {pid: command for pid, its_group, command in processes if its_group == group and command}


def _from_proc() -> Iterator[tuple[int, int, str]]:
    """Linux; slim images have no ps. A zombie's command line is empty."""
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # ended meanwhile
            pid = int(directory.name)
            command = (directory / "cmdline").read_bytes().replace(b"\0", b" ")
            yield pid, os.getpgid(pid), command.decode(errors="replace")


def _from_ps() -> Iterator[tuple[int, int, str]]:
    columns = ["ps", "-axww", "-o", "pid=,pgid=,stat=,command="]
    for line in subprocess.run(columns, check=True, capture_output=True, text=True).stdout.splitlines():
        pid, group, state, *command = line.split(maxsplit=3)
        yield int(pid), int(group), "" if state.startswith("Z") else "".join(command)
