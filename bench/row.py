"""What a measurement answers: a row of docs/performance.md, with each goal beside what was measured."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """`what` was to be within `limit`, and was `measured`; all three in words for a reader."""

    what: str
    limit: str
    measured: str
    met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measurement: its goals, and a table of all that was measured, ours and the others'."""

    title: str
    goals: tuple[Goal, ...]
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    note: str = ""
    """What a reader must know to understand the figures: how they were taken, in a sentence or two."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Values of one quantity, taken in turn with those that it is compared with; seconds, if a time."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> "Sample":
        return cls(tuple(values))

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def ratio_to(self, other: "Sample") -> float:
        """The median of the ratios of what was measured in the same round: noise that hits both cancels."""
        return statistics.median(mine / its for mine, its in zip(self.values, other.values, strict=True))

    def in_milliseconds(self) -> str:
        """`median (least-most)`."""
        least, median, most = (1000 * each for each in (min(self.values), self.median, max(self.values)))
        digits = 0 if median >= 100 else 2
        return f"{median:,.{digits}f} ({least:,.{digits}f}-{most:,.{digits}f})"
