"""Which way executions went through their workflow, read from their histories."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

START, END, BROKEN_OFF = "(start)", "(end)", "(broken off)"

Step = tuple[str, str]
"""From a state to the next one; START, END and BROKEN_OFF stand for what is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """One execution's. `states` in the order in which they were entered, those of a Map's items left out."""

    input: Any
    states: tuple[str, ...]
    ended: datetime
    succeeded: bool

    @property
    def told(self) -> str:
        end = "ended" if self.succeeded else "broke off"
        return f"{end}: {' → '.join(self.states)}"

    @property
    def steps(self) -> Iterable[Step]:
        return pairwise((START, *self.states, END if self.succeeded else BROKEN_OFF))


def walk(history: Sequence[Mapping[str, Any]], *, among: Collection[str]) -> Walk:
    """`history` as GetExecutionHistory gives it, from its beginning, of an execution that has ended.

    `among` are the names of the workflow's own states; names are unique, those of a Map's items too.
    """
    entered = [event["stateEnteredEventDetails"] for event in history if "stateEnteredEventDetails" in event]
    return Walk(
        input=json.loads(entered[0]["input"]) if entered else {},
        states=tuple(state["name"] for state in entered if state["name"] in among),
        ended=history[-1]["timestamp"],
        succeeded=history[-1]["type"] == "ExecutionSucceeded",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """A workflow's definition, how often each of its steps was made, and what made them."""

    definition: Mapping[str, Any]
    steps: Mapping[Step, int]
    by: str = "executions"

    def report(self) -> dict[str, Any]:
        steps = [{"from": start, "to": end, "times": times} for (start, end), times in self.steps.items()]
        return {"by": self.by, "definition": self.definition, "steps": steps}


def walked(definition: Mapping[str, Any], walks: Iterable[Walk]) -> Walked:
    return Walked(definition=definition, steps=Counter(step for each in walks for step in each.steps))


def decided(function: str, outcomes: Mapping[str, int], *, by: str) -> Walked:
    """Where there is no workflow: the function that decides, its outcomes, and how often each came about."""
    ends = {name: {"Type": "Succeed"} for name in outcomes}
    chosen = [{"Next": name} for name in outcomes]
    states = {function: {"Type": "Choice", "Choices": chosen}, **ends}
    steps = {(START, function): sum(outcomes.values())}
    steps |= {(function, name): times for name, times in outcomes.items()}
    steps |= {(name, END): times for name, times in outcomes.items()}
    return Walked(definition={"StartAt": function, "States": states}, steps=steps, by=by)
