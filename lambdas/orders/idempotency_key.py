"""The header `Idempotency-Key`: bare, or quoted as the structured field that its draft makes it; one key."""

import re
from typing import Any

from orders.problem import Kind, Problem

HEADER = "Idempotency-Key"
PATTERN = r"[A-Za-z0-9._-]{8,128}"

_KEY = re.compile(PATTERN)
_QUOTED = re.compile(rf'"({PATTERN})"')


def from_headers(event: dict[str, Any]) -> str:
    """Of a proxy event of API Gateway. Raises Problem.

    Whoever sends the header twice may mean either: a client library that joins the two says it with a comma.
    """
    values = [value.strip(" \t") for value in _values(event)]
    if not any(values):
        raise Problem(Kind.KEY_MISSING, f"Send a header {HEADER}: one value for all retries.")
    found = _QUOTED.fullmatch(values[0])
    key = found[1] if found else values[0]
    if len(values) > 1 or not is_key(key):
        raise Problem(
            Kind.KEY_MALFORMED,
            f"Send one {HEADER} of 8 to 128 of A-Z a-z 0-9 . _ -, bare or in double quotes.",
        )
    return key


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def _values(event: dict[str, Any]) -> list[str]:
    """All of them: `headers` alone shows only the last of a header that was sent twice."""
    every = _named(event.get("multiValueHeaders"))
    if every:
        return [str(value) for values in every for value in values]
    return [str(value) for value in _named(event.get("headers"))]


def _named(headers: dict[str, Any] | None) -> list[Any]:
    return [value for name, value in (headers or {}).items() if name.lower() == HEADER.lower() and value]
