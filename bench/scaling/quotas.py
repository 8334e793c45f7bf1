"""Reads the one file of quotas, `quotas.json`: edit that, and everything is computed anew."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

QUOTAS = Path(__file__).with_name("quotas.json")

Region = Literal["large", "other"]
REGIONS: tuple[Region, ...] = ("large", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """In the three large Regions, and in all others. `sure`: H, M or L, as the file explains."""

    large: float
    other: float
    unit: str
    source: str
    sure: str

    def of(self, region: Region) -> float:
        return self.large if region == "large" else self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    checked: str
    """The day on which they were looked up."""
    by_name: Mapping[str, Quota]

    def of(self, name: str, region: Region) -> float:
        return self.by_name[name].of(region)


def read(path: Path = QUOTAS) -> Quotas:
    found = json.loads(path.read_text())
    by_name = {name: Quota(**quota) for name, quota in found["quotas"].items()}
    return Quotas(checked=found["checked"], by_name=by_name)
