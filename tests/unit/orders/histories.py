"""Histories of the workflow's executions, as Step Functions writes them and as the emulator does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]

SUCCEEDED, TIMED_OUT, OPEN = (
    "TaskSucceeded",
    "TaskTimedOut",
    "(no end)",
)  # of a try; all else is an error's name
FIRST_STATES = ("BeginOrder", "ChargePayment")


def end_of_try(end: str) -> Event | None:
    match end:
        case "(no end)":
            return None
        case "TaskSucceeded":
            return {
                "type": end,
                "taskSucceededEventDetails": {"resource": "invoke", "resourceType": "lambda"},
            }
        case "TaskTimedOut":
            return {"type": end, "taskTimedOutEventDetails": {"error": "States.Timeout"}}
        case "TaskSubmitFailed":
            return {"type": end, "taskSubmitFailedEventDetails": {"error": "Lambda.AWSLambdaException"}}
        case "TaskStartFailed":
            return {"type": end, "taskStartFailedEventDetails": {"error": "Lambda.SdkClientException"}}
        case _:
            return {"type": "TaskFailed", "taskFailedEventDetails": {"error": end, "cause": "…"}}


def entered(state: str, kind: str = "Task") -> Event:
    return {"type": f"{kind}StateEntered", "stateEnteredEventDetails": {"name": state}}


@dataclass
class History:
    """As AWS has it: each event names the one that led to it, whichever stand between."""

    events: list[Event] = field(default_factory=list)

    def add(self, event: Event, after: int) -> int:
        """`after`: the id of the event that led to it; 0 for the first."""
        number = len(self.events) + 1
        self.events.append({"id": number, "previousEventId": after, **event})
        return number

    def begun(self) -> int:
        """Up to the end of BeginOrder."""
        last = self.add({"type": "ExecutionStarted"}, 0)
        for event in (entered("BeginOrder"), *one_try(SUCCEEDED), {"type": "TaskStateExited"}):
            last = self.add(event, last)
        return last

    def charged(self, *tries: str) -> int:
        """ChargePayment's tries, by their ends; `exited` where the last of them succeeded."""
        last = self.add(entered("ChargePayment"), self.begun())
        for event in (event for end in tries for event in one_try(end)):
            last = self.add(event, last)
        return self.add({"type": "TaskStateExited"}, last) if tries[-1:] == (SUCCEEDED,) else last

    def mapped(self) -> int:
        """Up to the Map's start, with the payment charged."""
        last = self.add(entered("ProvisionItems", "Map"), self.charged(SUCCEEDED))
        return self.add({"type": "MapStateStarted", "mapStateStartedEventDetails": {"length": 100}}, last)

    def interleave(self, iterations: Mapping[int, Sequence[str]], order: Iterator[int]) -> dict[int, int]:
        """Each item's tries; `order` says whose event comes next. The last event of each iteration."""
        start = self.mapped()
        lasts = dict.fromkeys(iterations, start)
        waiting = {number: list(iteration(number, tries)) for number, tries in iterations.items()}
        while any(waiting.values()):
            number = sorted(number for number, events in waiting.items() if events)[
                next(order) % sum(bool(events) for events in waiting.values())
            ]
            lasts[number] = self.add(waiting[number].pop(0), lasts[number])
        return lasts


def one_try(end: str, *, starts: bool = True) -> Iterator[Event]:
    yield {"type": "TaskScheduled", "taskScheduledEventDetails": {"resource": "invoke"}}
    if starts:
        yield {"type": "TaskStarted", "taskStartedEventDetails": {"resource": "invoke"}}
    if event := end_of_try(end):
        yield event


def iteration(number: int, tries: Sequence[str]) -> Iterator[Event]:
    details = {"name": "ProvisionItems", "index": number}
    yield {"type": "MapIterationStarted", "mapIterationStartedEventDetails": details}
    yield entered("ProvisionItem")
    for end in tries:
        yield from one_try(end)
    if tries[-1:] == [SUCCEEDED]:
        yield {"type": "TaskStateExited", "stateExitedEventDetails": {"name": "ProvisionItem"}}
        yield {"type": "MapIterationSucceeded", "mapIterationSucceededEventDetails": details}


def emulated(payment: Sequence[str], items: Mapping[int, Sequence[str]], order: Iterator[int]) -> list[Event]:
    """As MiniStack has it: no event names the one before, and of a Map's states there are only the tries."""
    events: list[Event] = []
    for state, tries in zip(FIRST_STATES, ([SUCCEEDED], payment), strict=True):
        events.append(entered(state))
        events += [event for end in tries for event in one_try(end, starts=False)]
        if tries[-1:] == [SUCCEEDED]:
            events.append({"type": "TaskStateExited"})
    if payment[-1:] == [SUCCEEDED]:
        events.append(entered("ProvisionItems", "Map"))
        waiting = {
            number: [event for end in tries for event in one_try(end, starts=False)]
            for number, tries in items.items()
        }
        while busy := sorted(number for number, left in waiting.items() if left):
            events.append(waiting[busy[next(order) % len(busy)]].pop(0))
    events.append({"type": "ExecutionFailed"})
    return [{"id": number, **event} for number, event in enumerate(events, 1)]
