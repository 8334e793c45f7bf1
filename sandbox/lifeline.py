"""Runs a command, and kills it with all of its children as soon as whoever started it is gone.

Run as a script: `python lifeline.py command argument …`, with a pipe as its standard input.
"""

import os
import signal
import subprocess
import sys
import threading


def main() -> int:
    """Run the command to its end and answer its status; its standard input is empty."""
    threading.Thread(target=_kill_group_at_end_of_input, daemon=True).start()
    return subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL)


def _kill_group_at_end_of_input() -> None:
    """The starter keeps the other end of the pipe open and never writes to it.

    The kernel closes it even when the starter dies by SIGKILL, on Linux and on macOS, so that nothing
    outlives a demo that was killed.
    """
    while os.read(sys.stdin.fileno(), 1024):
        pass
    if os.getpgrp() == os.getpid():  # in a session of its own: nobody else's processes are in the group
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
