"""A child process with a group of its own: started from an empty environment, waited for, killed whole."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path

from sandbox import lifeline, process_table

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Opens URLs on loopback; an HTTP proxy in the environment of the user must not see them."""


class SandboxError(Exception):
    """A part of the sandbox is missing, does not start or ends badly; the message ends with its log's end."""


class ProcessGroup:
    """A running child and everything that it starts, until `kill`."""

    def __init__(
        self, *, name: str, command: Sequence[str], environment: Mapping[str, str], directory: Path, log: Path
    ) -> None:
        """Start `command` in `directory`; both its outputs go to the file `log`.

        It gets `environment` and nothing else, and is killed when this process dies before it could.
        """
        self.name = name
        self._log = log
        self._killed = False
        with log.open("wb") as output:
            self._child = subprocess.Popen(
                [sys.executable, "-I", lifeline.__file__, *command],
                env=dict(environment),
                cwd=directory,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The child's process id, which is also the id of its group."""
        return self._child.pid

    def wait_until_healthy(self, url: str, *, seconds: float) -> None:
        """Return when `url` answers 200; raises SandboxError if the child ends or `seconds` pass before."""
        deadline = time.monotonic() + seconds
        while not _answers(url):
            if self._child.poll() is not None:
                raise self._failure(f"ended with status {self._child.returncode} before it was ready")
            if time.monotonic() > deadline:
                raise self._failure(f"was not ready after {seconds:g} s")
            time.sleep(0.05)

    def wait_until_ended(self, *, seconds: float) -> None:
        """Return when the child has ended with status 0; raises SandboxError else, or after `seconds`."""
        try:
            status = self._child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise self._failure(f"did not end within {seconds:g} s") from None
        if status:
            raise self._failure(f"ended with status {status}")

    def kill(self) -> None:
        """Kill the child and all of its group at once, and wait until they are gone. May be called again."""
        if self._killed:
            return
        self._killed = True
        with contextlib.suppress(
            ProcessLookupError, PermissionError
        ):  # macOS: EPERM when only zombies are left
            os.killpg(self.pid, signal.SIGKILL)
        self._child.wait()
        if self._child.stdin:
            self._child.stdin.close()
        _wait_until_empty(self.pid, seconds=2)

    def _failure(self, what: str) -> SandboxError:
        lines = self._log.read_text(errors="replace").splitlines()[-25:]
        return SandboxError(
            "\n".join([f"{self.name} {what}; the end of its log:", *(f"    {x}" for x in lines)])
        )


def free_ports(count: int) -> list[int]:
    """Different TCP ports of 127.0.0.1 that nobody listens on at this moment."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextlib.contextmanager
def unwinding_on_termination() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, so that context managers tear down as they do on Ctrl-C.

    Only in the main thread (others can't set handlers), and never in place of somebody else's handler.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [s for s in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(s) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _exit)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _exit(number: int, _frame: types.FrameType | None) -> None:
    raise SystemExit(128 + number)


def _answers(url: str) -> bool:
    try:
        with DIRECT.open(url, timeout=2) as response:
            return bool(response.status == HTTPStatus.OK)
    except (OSError, urllib.error.URLError):
        return False


def _wait_until_empty(group: int, *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while process_table.members(group) and time.monotonic() < deadline:
        time.sleep(0.01)
