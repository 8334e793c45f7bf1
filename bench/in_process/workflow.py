"""A workflow in this process: its definition, walked as Step Functions does while nothing fails."""

import json
from collections.abc import Callable, Mapping
from typing import Any

Function = Callable[[dict[str, Any]], object]
Path = tuple[str, ...]


class Workflow:
    """`functions` by the names of their states."""

    def __init__(self, definition: Mapping[str, Any], functions: Mapping[str, Function]) -> None:
        self._definition = definition
        self._functions = functions

    def run(self, execution: str, text: str) -> Path:
        """The states that an execution with this input enters, in order, until it succeeds."""
        context = {"Execution": {"Id": execution, "RedriveCount": 0}, "State": {"RetryCount": 0}}
        data, entered = json.loads(text), [self._definition["StartAt"]]
        while True:
            state = self._definition["States"][entered[-1]]
            following = state.get("Next")
            match state["Type"]:
                case "Task" if entered[-1] in self._functions:
                    payload = _put(state["Parameters"]["Payload"], data, context)
                    answer = self._functions[entered[-1]](payload)
                    result = _put(state["ResultSelector"], {"Payload": answer}, context)
                    data = {**data, state["ResultPath"].removeprefix("$."): result} if following else result
                case "Choice":
                    following = _chosen(state, data)
                case "Pass":
                    data = _put(state["Parameters"], data, context)
                case kind:
                    raise NotImplementedError(f"{entered[-1]}, a {kind}: something failed")
            if following is None:
                return tuple(entered)
            entered.append(following)


def _put(template: Any, data: Any, context: Any) -> Any:
    """A template of the Amazon States Language, with what its paths lead to in their place."""
    if not isinstance(template, Mapping):
        return template
    return {
        name.removesuffix(".$"): _at(value, data, context)
        if name.endswith(".$")
        else _put(value, data, context)
        for name, value in template.items()
    }


def _at(path: str, data: Any, context: Any = None) -> Any:
    root, *names = path.split(".")
    found = context if root == "$$" else data
    for name in names:
        found = found[name]
    return found


def _chosen(state: Mapping[str, Any], data: Any) -> str:
    following: str = next((rule["Next"] for rule in state["Choices"] if _holds(rule, data)), state["Default"])
    return following


def _holds(rule: Mapping[str, Any], data: Any) -> bool:
    if "Or" in rule:
        return any(_holds(each, data) for each in rule["Or"])
    wanted = rule["BooleanEquals"] if "BooleanEquals" in rule else rule["StringEquals"]
    return bool(_at(rule["Variable"], data) == wanted)
