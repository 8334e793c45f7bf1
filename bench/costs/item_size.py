"""How large DynamoDB reckons an item to be."""

from collections.abc import Mapping
from math import ceil
from typing import Any


def item_bytes(item: Mapping[str, Any]) -> int:
    """Names and values; a number as half its digits and one."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: Mapping[str, Any]) -> int:
    ((kind, held),) = value.items()
    match kind:
        case "S":
            return len(held.encode())
        case "N":
            return ceil(len(held.lstrip("-")) / 2) + 1
        case "M":
            return 3 + item_bytes(held)
        case "L":
            return 3 + sum(map(_value_bytes, held))
        case "BOOL" | "NULL":
            return 1
        case _:
            raise ValueError(f"no record has values of type {kind}")
