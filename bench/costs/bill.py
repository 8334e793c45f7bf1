"""A bill: lines of quantity times unit price, each with where its quantity comes from."""

from dataclasses import dataclass
from enum import StrEnum

from bench.costs.prices import Price

DAYS_A_MONTH = 30


class Origin(StrEnum):
    MEASURED = "measured"
    ASSUMED = "assumed"
    SETTINGS = "settings"
    BOTH = "measured and assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`quantity`: of the price's unit, for a million events."""

    what: str
    quantity: float
    price: Price
    origin: Origin

    @property
    def usd(self) -> float:
        return self.price.of(self.quantity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Of a million events."""

    title: str
    lines: tuple[Line, ...]

    @property
    def usd(self) -> float:
        return sum(line.usd for line in self.lines)

    def per_day(self, events: float) -> float:
        return self.usd * events / 1_000_000

    def per_month(self, events: float) -> float:
        return DAYS_A_MONTH * self.per_day(events)

    def of(self, *units: str) -> float:
        """What these units' lines come to: `units` are beginnings of them."""
        return sum(line.usd for line in self.lines if line.price.unit.startswith(units))
