"""Reads the one file of prices, `prices.json`: edit that, and everything is computed anew."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PRICES = Path(__file__).with_name("prices.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """`usd` for so many (`per`) of a `unit`. `sure`: H, M or L, as the file explains."""

    usd: float
    per: float
    unit: str
    source: str
    sure: str

    def of(self, quantity: float) -> float:
        """In US dollars."""
        return quantity * self.usd / self.per


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    checked: str
    """The day on which they were looked up."""
    region: str
    by_name: Mapping[str, Price]

    def __getitem__(self, name: str) -> Price:
        return self.by_name[name]


def read(path: Path = PRICES) -> Prices:
    found = json.loads(path.read_text())
    return Prices(
        checked=found["checked"],
        region=found["region"],
        by_name={name: Price(**price) for name, price in found["prices"].items()},
    )
