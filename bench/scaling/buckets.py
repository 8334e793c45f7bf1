"""How AWS limits: by tokens that come back at a rate, and by what may run at one time."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class TokenBucket:
    """`rate` tokens a second, at most `size` of them kept. Times are seconds, and never go back."""

    size: float
    rate: float
    tokens: float = field(init=False)
    _at: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.tokens = self.size

    def take(self, now: float, wanted: int) -> int:
        """How many of them are granted; who is refused has used up nothing."""
        self._refill(now)
        granted = min(wanted, int(self.tokens + 1e-9))
        self.tokens -= granted
        return granted

    def reserve(self, now: float, wanted: float) -> float:
        """All of them, after so many seconds: in the order in which they were asked for."""
        self._refill(now)
        self.tokens -= wanted
        return max(0.0, -self.tokens / self.rate)

    def _refill(self, now: float) -> None:
        self.tokens = min(self.size, self.tokens + (now - self._at) * self.rate)
        self._at = now


@dataclass(slots=True)
class Concurrency:
    limit: int
    used: int = 0
    most: int = 0

    def take(self, wanted: int) -> int:
        """How many of them are granted."""
        granted = min(wanted, self.limit - self.used)
        self.used += granted
        self.most = max(self.most, self.used)
        return granted

    def give_back(self, number: int) -> None:
        self.used -= number
