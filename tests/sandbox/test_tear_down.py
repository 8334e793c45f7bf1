"""However a sandbox ends, none of its processes runs on."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox import process_table
from sandbox.aws import Sandbox
from sandbox.deployment import PROJECT

HOLD_A_SANDBOX = """
import time
from sandbox.aws import Sandbox
with Sandbox(faults=True) as sandbox:
    print(*sandbox.process_groups, sandbox.directory, flush=True)
    time.sleep(60)
"""


def all_ended(groups: list[int], *, within_seconds: float) -> bool:
    deadline = time.monotonic() + within_seconds
    while any(process_table.members(group) for group in groups):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_nothing_is_left_after_a_failure() -> None:
    with pytest.raises(ZeroDivisionError), Sandbox(faults=True) as sandbox:
        raise ZeroDivisionError

    assert all_ended(sandbox.process_groups, within_seconds=0)
    assert not sandbox.directory.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_runs_on_when_its_owner_is_ended_by(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_A_SANDBOX],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        *groups, directory = owner.stdout.readline().split()
        owner.send_signal(number)
        owner.wait(timeout=10)

    assert all_ended([int(group) for group in groups], within_seconds=3)
    if number is signal.SIGKILL:
        shutil.rmtree(directory)  # nobody was left to do it
    assert not Path(directory).exists()
