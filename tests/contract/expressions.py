"""What DynamoDB refuses in the expressions of an update, and moto lets pass."""

import re
from collections import Counter
from typing import Any

from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

_RESERVED = {word.casefold() for word in ReservedKeywords.get_reserved_keywords()}
_SYNTAX = {"SET", "REMOVE", "ADD", "AND", "OR"}
_NAME = r"#?[A-Za-z]\w*"


def check_expressions(params: dict[str, Any], **_: Any) -> None:
    """A botocore handler: fails the test whose write DynamoDB would answer with a ValidationException."""
    update, condition = params["UpdateExpression"], params["ConditionExpression"]
    text = f"{update} {condition}"
    names, values = params["ExpressionAttributeNames"], params["ExpressionAttributeValues"]
    assert set(re.findall(r"#\w+", text)) == names.keys(), "names that are given, and names that are used"
    assert set(re.findall(r":\w+", text)) == values.keys(), "values that are given, and values that are used"
    bare = set(re.findall(r"(?<![#:\w])[A-Za-z]\w*", text)) - _SYNTAX
    assert not {name for name in bare if name.casefold() in _RESERVED}, "a reserved word needs a placeholder"
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
    """The attributes that an update writes: left of an equals sign, after ADD, or in its REMOVE clause."""
    assigned, _, removed = update.partition(" REMOVE ")
    added = re.findall(rf"ADD ({_NAME}) ", assigned)
    return [*re.findall(rf"({_NAME}) =", assigned), *added, *re.findall(_NAME, removed)]
