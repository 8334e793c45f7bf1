"""Turn JSON of the CDK context into a settings dataclass; refuse unknown names and wrong types."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from stacks.refusal import Refusal

Settings = TypeVar("Settings")

_CALLED = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


class SettingsError(Refusal):
    """A setting, its value and what is allowed, in one line."""

    def __init__(self, setting: str, value: object, allowed: str) -> None:
        super().__init__(f"{setting} = {json.dumps(value, default=str)}: must be {allowed}")


class MissingSettingError(Refusal):
    """A setting without default that is not given."""


class UnknownSettingError(Refusal):
    """A name that no setting has: most likely a typing error, which must not be silently without effect."""


def read(kind: type[Settings], given: object, *, at: str, over: Settings | None = None) -> Settings:
    """Make a `kind` of what is `given`, over a default; `at` is the dotted place that errors name."""
    if not isinstance(given, Mapping):
        raise SettingsError(at, given, "an object of settings")
    hints = get_type_hints(kind)
    _refuse_unknown(given, known=list(hints), at=at)
    values: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]  # every kind is one of our dataclasses
        default = getattr(over, field.name, field.default)
        if field.name in given:
            place = f"{at}.{field.name}"
            values[field.name] = _value(hints[field.name], given[field.name], at=place, over=default)
        elif default is MISSING:
            raise MissingSettingError(f"{at}.{field.name} is not given, and has no default")
        else:
            values[field.name] = default
    return kind(**values)


def _refuse_unknown(given: Mapping[str, object], *, known: list[str], at: str) -> None:
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            shown = name if name.isprintable() else json.dumps(name)
            raise UnknownSettingError(f"{at}.{shown} = {json.dumps(given[name])}: no such setting, {hint}")


def _value(hint: Any, given: object, *, at: str, over: object) -> Any:
    if is_dataclass(hint):
        return read(hint, given, at=at, over=None if over is MISSING else over)  # type: ignore[arg-type]
    if get_origin(hint) is Literal:
        if given not in get_args(hint):
            raise SettingsError(at, given, " or ".join(get_args(hint)))
        return given
    accepted = (int, float) if hint is float else hint
    if not isinstance(given, accepted) or (isinstance(given, bool) and hint is not bool):
        raise SettingsError(at, given, _CALLED[hint])
    return given
