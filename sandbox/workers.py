"""Finds and kills the processes in which the emulator runs a function's code: a crash at the worst moment."""

import contextlib
import os
import re
import signal

from sandbox import process_table


def workers(function_name: str, *, group: int) -> list[int]:
    """Process ids of a function's execution environments, idle ones too, within the emulator's group."""
    code = re.compile(rf"ministack-lambda-{re.escape(function_name)}-[a-z0-9_]+/")
    return [pid for pid, command in process_table.members(group).items() if code.search(command)]


def kill_workers(function_name: str, *, group: int) -> list[int]:
    """SIGKILL all execution environments of a function; answers those that were there to be killed."""
    killed = []
    for pid in workers(function_name, group=group):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
    return killed
