"""How long an execution of a state machine can take at most, read from its definition."""

from collections.abc import Iterator, Mapping
from typing import Any

from stacks.refusal import Refusal

State = Mapping[str, Any]


class UnboundedRunError(Refusal):
    """The definition has a loop, a task without timeout, or a state whose duration is not in it."""


def longest_run_seconds(definition: Mapping[str, Any]) -> float:
    """The slowest path: every task times out on each of its tries, and waits as long as its Retry lets it."""
    return _from_state(definition["StartAt"], definition["States"], behind=())


def _from_state(name: str, states: Mapping[str, State], *, behind: tuple[str, ...]) -> float:
    if name in behind:
        raise UnboundedRunError(f"state {name} can come back to itself: no longest run can be told")
    state = states[name]
    ahead = (_from_state(after, states, behind=(*behind, name)) for after in _followers(state))
    return _longest_stay(name, state) + max(ahead, default=0.0)


def _followers(state: State) -> Iterator[str]:
    for way in (state, *state.get("Choices", ()), *state.get("Catch", ())):
        if "Next" in way:
            yield way["Next"]
    if "Default" in state:
        yield state["Default"]


def _longest_stay(name: str, state: State) -> float:
    match state:
        case {"Type": "Pass" | "Choice" | "Succeed" | "Fail"}:
            return 0.0
        case {"Type": "Wait", "Seconds": int(seconds)}:
            return seconds
        case {"Type": "Task", "TimeoutSeconds": int(seconds)}:
            retriers = state.get("Retry", ())
            tries: int = 1 + sum(retrier.get("MaxAttempts", 3) for retrier in retriers)
            return tries * seconds + sum(_waits(retrier) for retrier in retriers)
    raise UnboundedRunError(f"state {name}: its longest duration is not in the definition")


def _waits(retrier: Mapping[str, Any]) -> float:
    """Seconds between tries; defaults are those of the States Language. Jitter only shortens a wait."""
    interval: int = retrier.get("IntervalSeconds", 1)
    rate: float = retrier.get("BackoffRate", 2.0)
    attempts: int = retrier.get("MaxAttempts", 3)
    longest: float = retrier.get("MaxDelaySeconds", float("inf"))
    return sum(min(interval * rate**n, longest) for n in range(attempts))
