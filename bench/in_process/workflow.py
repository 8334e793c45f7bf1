"""A workflow in this process: its definition, walked as Step Functions does while nothing fails."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from sandbox import states_language as asl

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
                    payload = asl.filled(state["Parameters"]["Payload"], data, context)
                    answer = self._functions[entered[-1]](payload)
                    result = asl.filled(state["ResultSelector"], {"Payload": answer}, context)
                    data = asl.placed(data, state.get("ResultPath", "$"), result)
                case "Choice":
                    following = asl.chosen(state, data, context)
                case "Pass":
                    data = asl.filled(state["Parameters"], data, context)
                case kind:
                    raise NotImplementedError(f"{entered[-1]}, a {kind}: something failed")
            if following is None:
                return tuple(entered)
            entered.append(following)
