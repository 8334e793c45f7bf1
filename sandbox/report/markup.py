"""HTML and SVG as values: whatever is no markup is text, and is escaped."""

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

_VOID = frozenset({"input", "link", "meta"})


class Markup(str):
    """What may stand in a page as it is. Only `tag` and `verbatim` make it."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"
"""Markup, text, a number, or more of them; None leaves no trace."""


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element. Attributes are named as Python allows: `class_`, `aria_label`, `for_`.

    True gives an attribute without a value; None and False leave it out.
    """
    begin = f"<{name}{''.join(_attribute(*each) for each in attributes.items())}>"
    if name in _VOID:
        return Markup(begin)
    return Markup(f"{begin}{fragment(*children)}</{name}>")


def fragment(*children: Child) -> Markup:
    return Markup("".join(_written(child) for child in children))


def verbatim(text: str) -> Markup:
    """For what we wrote ourselves: a script, a style sheet."""
    return Markup(text)


def _written(child: Child) -> str:
    match child:
        case None:
            return ""
        case Markup():
            return str(child)
        case str() | int():
            return escape(str(child))
        case _:
            return fragment(*child)


def _attribute(name: str, value: str | float | bool | None) -> str:
    written = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {written}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {written}="{escape(text)}"'
