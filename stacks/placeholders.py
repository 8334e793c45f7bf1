"""Put settings into a parsed state machine definition, so that numbers stay numbers.

CDK's `definition_substitutions` turns every value into text; it is left for what only a deployment knows.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from stacks.refusal import Refusal

_NAMED = re.compile(r"\$\{([^}]*)\}")


class PlaceholderError(Refusal):
    """A `${Name}` in a definition that nothing will replace."""


def fill(node: Any, values: Mapping[str, Any], *, left: Collection[str]) -> Any:
    """A copy of `node` in which each text that is exactly `${Name}` has become `values["Name"]`.

    Values may hold placeholders themselves. `left` are the names that CloudFormation fills in; any other
    raises `PlaceholderError`.
    """
    if isinstance(node, Mapping):
        return {name: fill(child, values, left=left) for name, child in node.items()}
    if isinstance(node, list):
        return [fill(child, values, left=left) for child in node]
    if not isinstance(node, str):
        return node
    whole = _NAMED.fullmatch(node)
    if whole and whole[1] in values:
        return fill(values[whole[1]], values, left=left)
    for name in _NAMED.findall(node):
        if name not in left:
            raise PlaceholderError(
                f"${{{name}}} in {node!r}: must be one whole value, and one of {', '.join(values)}"
            )
    return node
