"""From a body to what identifies its event: the business key and the fingerprint."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from idempotency.errors import InvalidKey

Select = Callable[[Any], Any]  # takes a body, returns the part of it that an expression names

MAX_BYTES = 1024  # DynamoDB allows 2,048 for a partition key; the source and its colon need room too


def business_id(body: Any, select: Select) -> str:
    """The id that `select` finds in the body, as text. Raises InvalidKey where it finds none.

    Text (not blank), whole numbers and booleans identify; 0 and False do, null and "" do not. A number and
    the text of the same digits are one id. A list identifies if each of its elements does. Text that begins
    as the JSON of a list or of a text does is put into quotes, so that it is no other event's id.
    """
    found = select(body)
    parts = [_text(part) for part in found] if isinstance(found, list) else _text(found)
    if not parts:
        raise InvalidKey("the key is an empty list")
    plain = isinstance(parts, str) and not parts.startswith(("[", '"'))
    identity = str(parts) if plain else json.dumps(parts, separators=(",", ":"))
    if len(_utf8(identity)) > MAX_BYTES:
        raise InvalidKey(f"the key is longer than {MAX_BYTES} bytes")
    return identity


def fingerprint(body: Any, select: Select) -> str:
    """64 hexadecimal digits; they differ when the selected part does, the order of its keys aside."""
    return digest(select(body))


def digest(value: Any) -> str:
    """SHA-256 over canonical JSON (sorted keys, no spaces, ASCII)."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _text(part: Any) -> str:
    if isinstance(part, str) and part.strip():
        _utf8(part)
        return part
    if isinstance(part, bool | int):
        return json.dumps(part)
    raise InvalidKey(f"the key is {_kind(part)}")


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidKey("the key is no valid Unicode text") from error


def _kind(part: Any) -> str:
    match part:
        case None:
            return "missing"
        case str():
            return "blank"
        case _:
            return f"a {type(part).__name__}"
