"""How a command ends: with its status, or with one line that says why not."""

import sys
from collections.abc import Callable
from typing import NoReturn

from sandbox.process_group import SandboxError
from stacks.refusal import Refusal


def run(name: str, main: Callable[[], int]) -> NoReturn:
    """Exits with what `main` answers. What it starts is stopped by whoever started it, whatever happens."""
    try:
        sys.exit(main())
    except (SandboxError, Refusal) as error:
        sys.exit(f"{name}: {error}")
    except KeyboardInterrupt:
        sys.exit(f"{name}: interrupted; everything it started is stopped")
