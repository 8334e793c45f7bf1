"""What a simulated hour counts while it goes on."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Books:
    arrived: int = 0
    done: int = 0
    dead: int = 0
    at_receive_limit: int = 0
    open: int = 0
    most_open: int = 0
    longest: float = 0
    most_receives: int = 0
    tries: int = 0
    throttled: int = 0
    refused_invocations: int = 0
    transitions: int = 0
    most_waiting: int = 0
    waiting_by_minute: list[int] = field(default_factory=list)

    @property
    def waiting(self) -> int:
        """Events that have come to no end yet."""
        return self.arrived - self.done - self.dead

    def opened(self, number: int) -> None:
        self.open += number
        self.most_open = max(self.most_open, self.open)

    def ended(self, arrivals: list[float], now: float, *, done: bool) -> None:
        if done:
            self.done += len(arrivals)
        else:
            self.dead += len(arrivals)
        self.longest = max(self.longest, now - min(arrivals))
