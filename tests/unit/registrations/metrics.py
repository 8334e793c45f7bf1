"""Metric lines in short."""

from typing import Any


def counted(lines: list[dict[str, Any]], name: str) -> dict[str | None, int]:
    """What a metric adds up to, by its own dimension; None where it has none."""
    sums: dict[str | None, int] = {}
    for line in lines:
        if name in line:
            dimension = line.get("Outcome") or line.get("Reason")
            (value,) = line[name]
            sums[dimension] = sums.get(dimension, 0) + int(value)
    return sums
