"""Starts microburst, the proxy that drops and fails the functions' AWS calls: two corrections and a count.

Run as `python -m sandbox.proxy -u <emulator> -p <port>`.
"""

import functools
import sys
from collections import Counter
from importlib.metadata import version
from typing import Any

from microburst import cli, control, detection
from microburst.forward import Upstream
from microburst.rules import RuleEngine

TESTED_VERSION = "0.10.0"


def main() -> int:
    """Correct the proxy, then serve until killed; the exit status is microburst's."""
    if version("microburst") != TESTED_VERSION:
        sys.exit(
            f"sandbox/proxy.py corrects microburst {TESTED_VERSION}; {version('microburst')} is installed"
        )
    keep_signatures_valid()
    read_no_service_from_the_host()
    count_calls_by_operation()
    return int(cli.main())


def keep_signatures_valid() -> None:
    """Pass the `Host` header on as it came: AWS signatures cover it, and microburst rewrites it.

    Rewritten, every call of a function's role would be refused; signing it anew would bypass IAM.
    """
    rewrite = Upstream._outbound_headers  # noqa: SLF001 - there is no setting for it

    def keep_host(self: Any, request: Any) -> dict[str, str]:
        return {**rewrite(self, request), "host": request.headers["Host"]}

    Upstream._outbound_headers = keep_host  # noqa: SLF001


def read_no_service_from_the_host() -> None:
    """Let the signature alone tell the service: our host is always 127.0.0.1.

    To read the host, microburst first loads the model of every AWS service. Those 6 s would fall on the first
    call of a function and look like a store that does not answer.
    """
    detection.parse_host = lambda _host: (None, None, None)


def count_calls_by_operation() -> None:
    """Tell in the statistics, too, how often each operation was called, whether it met a fault or not.

    A list of faults to try is complete only if it names every operation that there was.
    """
    decide, tell = RuleEngine.decide, control._stats  # noqa: SLF001 - there is no setting for it
    calls: Counter[str] = Counter()

    @functools.wraps(decide)
    def count(self: Any, call: Any) -> Any:
        calls[f"{call.service}:{call.operation}"] += 1
        return decide(self, call)

    RuleEngine.decide = count
    control._stats = lambda microburst: {**tell(microburst), "by_operation": calls}  # noqa: SLF001


if __name__ == "__main__":
    sys.exit(main())
