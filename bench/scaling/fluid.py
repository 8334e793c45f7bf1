"""What a queue does that is filled and emptied at steady rates: the closed forms beside the simulation."""

DAY_SECONDS = 86_400


def backlog(*, arriving: float, served: float, seconds: float) -> float:
    """Messages left after so long; rates are per second."""
    return max(0.0, (arriving - served) * seconds)


def drain_seconds(*, waiting: float, arriving: float, served: float) -> float:
    """Infinite where no more is served than arrives."""
    if not waiting:
        return 0.0
    return waiting / (served - arriving) if served > arriving else float("inf")


def at_a_time(*, arriving: float, seconds: float) -> float:
    """Little's law: how many are there, if each stays so long."""
    return arriving * seconds
