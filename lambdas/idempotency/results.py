"""Results as the text a record keeps; encoding never fails, so that marking DONE can't fail because of it."""

import json
from decimal import Decimal, InvalidOperation
from typing import Any

MAX_BYTES = 4096  # a duplicate's refused write is billed by the size of the stored item

_DECIMAL = "$decimal"
_OMITTED = "$omitted"


def encode(result: object) -> str:
    """JSON that `decode` gives back; a note in its place if it can't be kept.

    Decimals survive the round trip. What is over MAX_BYTES or no JSON (NaN, sets, instances) is omitted.
    """
    try:
        return _encoded(result)
    except Exception:  # noqa: BLE001 - a result may be of any class, whose own methods raise what they like
        return omitted("not serialisable")


def _encoded(result: object) -> str:
    try:
        text = json.dumps(result, default=_tag, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as unserialisable:
        return omitted(f"not serialisable: {unserialisable}")
    if len(text) > MAX_BYTES:  # ASCII only, so characters are bytes
        return omitted(f"too large: {len(text)} bytes")
    return text


def decode(text: str) -> Any:
    return json.loads(text, object_hook=_untag)


def omitted(reason: str) -> str:
    """The note that stands in for a result."""
    return json.dumps({_OMITTED: reason[:200]})


def _tag(value: object) -> dict[str, str]:
    if isinstance(value, Decimal) and value.is_finite():
        return {_DECIMAL: str(value)}
    raise TypeError(type(value).__name__)


def _untag(value: dict[str, Any]) -> Any:
    digits = value.get(_DECIMAL)
    if len(value) == 1 and isinstance(digits, str) and _as_tagged(digits):
        return Decimal(digits)
    return value


def _as_tagged(digits: str) -> bool:
    """As `_tag` writes them; else it is a result that happens to look like a decimal of ours."""
    try:
        return str(Decimal(digits)) == digits and Decimal(digits).is_finite()
    except InvalidOperation:
        return False
