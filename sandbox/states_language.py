"""The Amazon States Language as our definitions use it: paths, templates, choices, retries."""

import json
import random
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

Data = Any
Template = dict[str, Any]

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "BooleanEquals": lambda value, wanted: value is wanted,
    "StringEquals": lambda value, wanted: isinstance(value, str) and value == wanted,
}


class PathError(Exception):
    """States.Runtime: a path leads nowhere."""


def at(path: str, data: Data, context: Data) -> Data:
    """`$.a.b` in the state's data, `$$.A.B` in the context object."""
    if path.startswith("States.JsonMerge("):
        first, second, _ = path.removeprefix("States.JsonMerge(").removesuffix(")").split(", ")
        return {**at(first, data, context), **at(second, data, context)}
    found = context if path.startswith("$$") else data
    for name in path.split(".")[1:]:
        if not isinstance(found, Mapping) or name not in found:
            raise PathError(path)
        found = found[name]
    return deepcopy(found)


def filled(template: Any, data: Data, context: Data) -> Any:
    """Parameters, ResultSelector, ItemSelector."""
    if isinstance(template, list):
        return [filled(each, data, context) for each in template]
    if not isinstance(template, dict):
        return template
    return {
        name.removesuffix(".$"): at(value, data, context)
        if name.endswith(".$")
        else filled(value, data, context)
        for name, value in template.items()
    }


def placed(data: Data, path: str | None, result: Data) -> Data:
    """ResultPath: `$` replaces the data, null discards the result, `$.name` adds it."""
    if path is None:
        return data
    if path == "$":
        return result
    name = path.removeprefix("$.")
    if "." in name:
        raise NotImplementedError(f"not needed so far: {path}")
    return {**data, name: result}


def chosen(state: Template, data: Data, context: Data) -> str:
    """The next state of a Choice."""
    for rule in state["Choices"]:
        if _applies(rule, data, context):
            return str(rule["Next"])
    return str(state["Default"])


def _applies(rule: Template, data: Data, context: Data) -> bool:
    if "Or" in rule:
        return any(_applies(each, data, context) for each in rule["Or"])
    ((comparison, wanted),) = ((name, rule[name]) for name in rule if name in _COMPARISONS)
    return _COMPARISONS[comparison](at(rule["Variable"], data, context), wanted)


def matching(entries: list[Template], error: str) -> Template | None:
    """The first of these Retry or Catch entries that takes this error."""
    for entry in entries:
        names = entry["ErrorEquals"]
        if (
            error in names
            or "States.ALL" in names
            or ("States.TaskFailed" in names and error != "States.Timeout")
        ):
            return entry
    return None


def delay(retrier: Template, retries: int, chance: random.Random) -> float:
    """Seconds before the next try, after so many retries."""
    seconds = retrier.get("IntervalSeconds", 1) * retrier.get("BackoffRate", 2.0) ** retries
    seconds = min(seconds, retrier.get("MaxDelaySeconds", seconds))
    return chance.uniform(0, seconds) if retrier.get("JitterStrategy") == "FULL" else seconds


def text(data: Data) -> str:
    return json.dumps(data, sort_keys=True)
