"""The functions as Lambda calls them: `wiring` hands out what a test has made, as long as it lasts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import pytest

import wiring


class MadeOnce(Protocol):
    """What `functools.cache` makes of a function."""

    def cache_clear(self) -> None: ...


class Context:
    function_name = memory_limit_in_mb = invoked_function_arn = aws_request_id = "-"

    def __init__(self, milliseconds: int = 600_000) -> None:
        self.milliseconds = milliseconds

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


@contextmanager
def wired(
    environment: Mapping[str, str],
    *,
    clients: Mapping[str, Any],
    made_once: Sequence[MadeOnce],
    **handed_out: Any,
) -> Iterator[None]:
    """`handed_out` replaces functions of `wiring`; `made_once` are those that keep what they make of it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(wiring, "client", lambda service, **_: clients[service])
        for name, replacement in handed_out.items():
            patch.setattr(wiring, name, replacement)
        for function in made_once:
            function.cache_clear()
        try:
            yield
        finally:
            for function in made_once:
                function.cache_clear()
