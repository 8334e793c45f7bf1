"""The metrics among the lines that a function logs."""

from collections.abc import Sequence
from typing import Any


def metrics(lines: Sequence[dict[str, Any]]) -> set[tuple[str, str | None]]:
    """Names of the metrics, with the value of their own dimension."""
    found = set()
    for line in lines:
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", []):
            assert directive["Namespace"] == "IdempotentEvents"
            (dimensions,) = directive["Dimensions"]
            own = [line[name] for name in dimensions if name != "service"]
            found |= {(metric["Name"], own[0] if own else None) for metric in directive["Metrics"]}
    return found
