"""What the parameters of a key say of it, read without the code that wrote them."""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

Steps = dict[int, dict[str, Any]]  # by number; a key that has none has an empty one


def by_key(parameters: Iterable[Any]) -> dict[str, Steps]:
    """By the partition key of their record; `parameters` as Parameter Store lists them."""
    found: defaultdict[str, Steps] = defaultdict(dict)
    for parameter in parameters:
        step = json.loads(parameter["Value"])
        _namespace, _, key = step["key"].partition("/")
        found[key][int(parameter["Name"].rpartition("/")[2])] = step
    return dict(found)


def latest(steps: Steps) -> dict[str, Any]:
    return steps[max(steps)] if steps else {}


def settled(steps: Steps) -> bool:
    """Done, or somebody was told."""
    return latest(steps).get("state") == "DONE" or latest(steps).get("note") == "REPORTED"


def held(steps: Steps) -> bool:
    return bool(latest(steps).get("state") == "IN_PROGRESS")


def reclaimed(steps: Steps) -> bool:
    """Whether a claim follows a claim that was never marked."""
    claims = {number: step["attempt"] for number, step in steps.items() if step["state"] == "IN_PROGRESS"}
    return any(claims.get(number - 1, attempt) != attempt for number, attempt in claims.items())


def status(steps: Steps) -> str | None:
    """Of a registration that is done."""
    result = latest(steps).get("result")
    return None if result is None else str(json.loads(result)["status"])
