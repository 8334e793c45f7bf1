"""What DynamoDB refuses in the expressions of an update, and moto lets pass."""

import re
from collections import Counter
from typing import Any

_WORDS = {"SET", "REMOVE", "AND", "OR", "attribute_not_exists", "if_not_exists"}


def check_expressions(params: dict[str, Any], **_: Any) -> None:
    """A botocore handler: fails the test whose write DynamoDB would answer with a ValidationException."""
    update, condition = params["UpdateExpression"], params["ConditionExpression"]
    text = f"{update} {condition}"
    names, values = params["ExpressionAttributeNames"], params["ExpressionAttributeValues"]
    assert set(re.findall(r"#\w+", text)) == names.keys(), "names that are given, and names that are used"
    assert set(re.findall(r":\w+", text)) == values.keys(), "values that are given, and values that are used"
    assert set(re.findall(r"(?<![#:\w])[A-Za-z]\w*", text)) <= _WORDS, "bare names may be reserved words"
    assert not _redundant(condition), f"redundant parentheses: {condition}"
    twice = [path for path, times in Counter(_targets(update)).items() if times > 1]
    assert not twice, f"two document paths overlap: {twice}"


def _redundant(expression: str) -> bool:
    """Whether a pair of parentheses holds nothing but another pair."""
    opened: list[int] = []
    pairs = {}
    for place, character in enumerate(expression):
        if character == "(":
            opened.append(place)
        elif character == ")":
            pairs[opened.pop()] = place
    assert not opened
    return any(pairs.get(start + 1) == end - 1 for start, end in pairs.items())


def _targets(update: str) -> list[str]:
    """The attributes that an update writes: left of each equals sign, or in its REMOVE clause."""
    assigned, _, removed = update.partition(" REMOVE ")
    return re.findall(r"(#\w+) =", assigned) + re.findall(r"#\w+", removed)
