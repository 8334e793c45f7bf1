"""The body of a POST: its raw bytes are what is compared, its JSON is the order."""

import base64
import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import fastjsonschema

from orders.problem import Kind, Problem

MAX_BYTES = 65_536  # far below the 262,144 that an execution's input may have
MAX_ITEMS = 100

SCHEMA = Path(__file__).with_name("order.schema.json")


def raw(event: dict[str, Any]) -> bytes:
    """As the client sent it: no body is the same as an empty one. Raises Problem."""
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return str(body).encode(errors="surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as error:
        raise Problem(Kind.NOT_JSON, "The body is not what it says.") from error


def digest(body: bytes) -> str:
    """Equal for the same bytes only: another order of fields, or a space more, is another body."""
    return hashlib.sha256(body).hexdigest()


def order_in(body: bytes) -> dict[str, Any]:
    """Raises Problem, where the rules as they are now are not kept."""
    if len(body) > MAX_BYTES:
        raise Problem(Kind.TOO_LARGE, f"{len(body)} bytes; up to {MAX_BYTES} are taken.")
    found = parsed(body)
    items = found.get("items") if isinstance(found, dict) else None
    if isinstance(items, list) and len(items) > MAX_ITEMS:
        raise Problem(Kind.TOO_LARGE, f"{len(items)} items; up to {MAX_ITEMS} are taken.")
    try:
        order: dict[str, Any] = _validator()(found)
    except fastjsonschema.JsonSchemaValueException as invalid:
        raise Problem(Kind.INVALID, invalid.message.replace("data", "body", 1)) from invalid
    return order


@cache
def _validator() -> Callable[[Any], Any]:
    validate: Callable[[Any], Any] = fastjsonschema.compile(json.loads(SCHEMA.read_text(encoding="utf-8")))
    return validate


def parsed(body: bytes) -> Any:
    """JSON as RFC 8259 has it, in UTF-8; a name twice in one object may mean either, so it is refused."""
    try:
        return json.loads(body.decode(), object_pairs_hook=_once, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise Problem(Kind.NOT_JSON, "Send one JSON object, each name once.") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number that is too large")
    return number
