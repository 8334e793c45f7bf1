"""Chaos at a glance: each use of an operation in a row, each way to fail in a column."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.report.markup import Markup, tag

_SIGNS = {"ok": "✓", "failed": "✗", "never fired": "∅"}


def rounds(found: Sequence[Mapping[str, Any]]) -> Markup:
    """`found` as chaos reports its rounds. A cell: whether all was well, how often the fault came about."""
    faults = list(dict.fromkeys(each["fault"] for each in found))
    operations = list(dict.fromkeys(each["operation"] for each in found))
    cell = {(each["operation"], each["fault"]): each for each in found}
    return tag(
        "div",
        tag(
            "table",
            tag(
                "thead",
                tag(
                    "tr",
                    tag("th", "operation", scope="col"),
                    (tag("th", fault, scope="col") for fault in faults),
                ),
            ),
            tag(
                "tbody",
                (
                    tag(
                        "tr",
                        tag("th", operation, scope="row"),
                        (_cell(cell.get((operation, fault))) for fault in faults),
                    )
                    for operation in operations
                ),
            ),
            class_="rounds",
        ),
        class_="wide",
        role="region",
        aria_label="Rounds",
        tabindex=0,
    )


def _cell(found: Mapping[str, Any] | None) -> Markup:
    if found is None:
        return tag("td")
    told = (
        f"{found['operation']}, {found['fault']}: {found['fired']} faults, {found['events']} events,"
        f" {found['lost']} lost, {found['doubled']} doubled"
    )
    return tag(
        "td",
        tag("span", _SIGNS[found["verdict"]], class_="sign", aria_hidden="true"),
        tag("span", found["verdict"], class_="spoken"),
        f" {found['fired']}",
        class_=f"round {found['verdict'].replace(' ', '-')}",
        title=told,
    )
