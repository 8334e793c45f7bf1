"""A workflow as a graph, from its definition: its states, its possible steps, how often each was made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.demo.walk import BROKEN_OFF, END, START


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """`type` and `comment` are the definition's; `entered` and `ended`: how many executions did so here."""

    name: str
    type: str
    comment: str = ""
    entered: int
    ended: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """`why` it is taken, where there is a choice."""

    start: str
    end: str
    why: str = ""
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """`by`: what made the steps."""

    by: str
    nodes: Sequence[Node]
    edges: Sequence[Edge]


def graph(walked: Mapping[str, Any]) -> Graph:
    """`walked` as a demo's report holds it for one deployment."""
    times = {(step["from"], step["to"]): int(step["times"]) for step in walked["steps"]}
    states: Mapping[str, Any] = walked["definition"]["States"]
    edges = [
        Edge(start=start, end=end, why=why, times=times.get((start, end), 0))
        for (start, end), why in _steps(walked["definition"], times).items()
    ]
    entered = {name: sum(n for (_, end), n in times.items() if end == name) for name in (*states, BROKEN_OFF)}
    nodes = [Node(name=START, type=START, entered=times.get((START, walked["definition"]["StartAt"]), 0))]
    nodes += [
        Node(
            name=name,
            type=state["Type"],
            comment=state.get("Comment", ""),
            entered=entered[name],
            ended=times.get((name, END), 0),
        )
        for name, state in states.items()
    ]
    if entered[BROKEN_OFF]:
        nodes.append(Node(name=BROKEN_OFF, type=BROKEN_OFF, entered=entered[BROKEN_OFF]))
    return Graph(by=walked["by"], nodes=nodes, edges=edges)


def _steps(definition: Mapping[str, Any], made: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], str]:
    """Every step that the definition allows, and those of executions that broke off; with their reasons."""
    found: dict[tuple[str, str], list[str]] = {(START, definition["StartAt"]): []}
    for name, state in definition["States"].items():
        for end, why in _leaving(state):
            found.setdefault((name, end), []).append(why)
    found |= {step: [] for step in made if step[1] == BROKEN_OFF}
    return {step: " or ".join(dict.fromkeys(filter(None, why))) for step, why in found.items()}


def _leaving(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The next states, each with why."""
    if "Next" in state:
        yield state["Next"], ""
    for choice in state.get("Choices", ()):
        yield choice["Next"], _condition(choice)
    if "Default" in state:
        yield state["Default"], "anything else"
    for catch in state.get("Catch", ()):
        errors = ", ".join(catch["ErrorEquals"])
        yield catch["Next"], f"caught: {errors}".replace("States.ALL", "any error")


def _condition(choice: Mapping[str, Any]) -> str:
    for word in ("Or", "And"):
        if word in choice:
            return f" {word.lower()} ".join(_condition(each) for each in choice[word])
    if "Variable" not in choice:
        return ""
    variable = str(choice.get("Variable", "")).rpartition(".")[2]
    expected = [value for name, value in choice.items() if name not in ("Variable", "Next", "Comment")]
    return " ".join([variable, "=", *(str(value).lower() for value in expected)])


def whole(walked: Mapping[str, Mapping[str, Any]]) -> Graph:
    """Of all deployments of a workload together; they have the same states."""
    steps = [step for each in walked.values() for step in each["steps"]]
    times: dict[tuple[str, str], int] = {}
    for step in steps:
        key = step["from"], step["to"]
        times[key] = times.get(key, 0) + step["times"]
    merged = [{"from": start, "to": end, "times": n} for (start, end), n in times.items()]
    return graph({**next(iter(walked.values())), "steps": merged})
