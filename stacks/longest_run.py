"""How long an execution of a state machine can take at most, read from its definition."""

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from stacks.refusal import Refusal

State = Mapping[str, Any]


class UnboundedRunError(Refusal):
    """The definition has a loop, a task without timeout, or a state whose duration is not in it."""


def longest_run_seconds(definition: Mapping[str, Any], *, most_items: int | None = None) -> float:
    """The slowest path: every task times out on each of its tries, and waits as long as its Retry lets it.

    `most_items`: of a Map. It handles so many at a time, each of which may take as long as the slowest.
    """
    return _from_state(definition["StartAt"], definition["States"], most_items, behind=())


def _from_state(
    name: str, states: Mapping[str, State], most_items: int | None, *, behind: tuple[str, ...]
) -> float:
    if name in behind:
        raise UnboundedRunError(f"state {name} can come back to itself: no longest run can be told")
    state = states[name]
    ahead = (_from_state(after, states, most_items, behind=(*behind, name)) for after in _followers(state))
    return _longest_stay(name, state, most_items) + max(ahead, default=0.0)


def _followers(state: State) -> Iterator[str]:
    for way in (state, *state.get("Choices", ()), *state.get("Catch", ())):
        if "Next" in way:
            yield way["Next"]
    if "Default" in state:
        yield state["Default"]


def _longest_stay(name: str, state: State, most_items: int | None) -> float:
    match state:
        case {"Type": "Pass" | "Choice" | "Succeed" | "Fail"}:
            return 0.0
        case {"Type": "Wait", "Seconds": int(seconds)}:
            return seconds
        case {"Type": "Task", "TimeoutSeconds": int(seconds)}:
            return _with_retries(seconds, state)
        case {"Type": "Map", "MaxConcurrency": int(at_a_time), "ItemProcessor": processor} if (
            at_a_time > 0 and most_items is not None
        ):
            item = longest_run_seconds(processor, most_items=most_items)
            return _with_retries(ceil(most_items / at_a_time) * item, state)
    raise UnboundedRunError(f"state {name}: its longest duration is not in the definition")


def _with_retries(seconds: float, state: State) -> float:
    retriers = state.get("Retry", ())
    tries: int = 1 + sum(retrier.get("MaxAttempts", 3) for retrier in retriers)
    return tries * seconds + sum(_waits(retrier) for retrier in retriers)


def _waits(retrier: Mapping[str, Any]) -> float:
    """Seconds between tries; defaults are those of the States Language. Jitter only shortens a wait."""
    interval: int = retrier.get("IntervalSeconds", 1)
    rate: float = retrier.get("BackoffRate", 2.0)
    attempts: int = retrier.get("MaxAttempts", 3)
    longest: float = retrier.get("MaxDelaySeconds", float("inf"))
    return sum(min(interval * rate**n, longest) for n in range(attempts))
