"""What a rule is, and the few shapes that rules take."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from stacks.settings.reading import SettingsError

Number = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`setting` is the dotted name of the value to blame, `allowed` completes "must be …"."""

    setting: str
    holds: Callable[[Any], bool]
    allowed: Callable[[Any], str]


def refuse_broken(rules: Iterable[Rule], settings: object, *, at: str) -> None:
    """Raise `SettingsError` for the first rule that `settings` breaks."""
    for rule in rules:
        if not rule.holds(settings):
            value = attrgetter(rule.setting)(settings)
            raise SettingsError(f"{at}.{rule.setting}", value, rule.allowed(settings))


def within(setting: str, lowest: Number, highest: Number) -> Rule:
    """A range, ends included."""
    value = attrgetter(setting)
    return Rule(
        setting=setting,
        holds=lambda s: bool(lowest <= value(s) <= highest),
        allowed=lambda _: f"between {plain(lowest)} and {plain(highest)}",
    )


def at_least(setting: str, bound: Callable[[Any], Number], why: str) -> Rule:
    """A lower bound that other settings make."""
    value = attrgetter(setting)
    return Rule(
        setting=setting,
        holds=lambda s: bool(value(s) >= bound(s)),
        allowed=lambda s: f"{plain(bound(s))} or more: {why}",
    )


def above(setting: str, bound: Callable[[Any], Number], why: str) -> Rule:
    """A lower bound that other settings make, itself not allowed."""
    value = attrgetter(setting)
    return Rule(
        setting=setting,
        holds=lambda s: bool(value(s) > bound(s)),
        allowed=lambda s: f"more than {plain(bound(s))}: {why}",
    )


def at_most(setting: str, bound: Callable[[Any], Number], why: str) -> Rule:
    """An upper bound that other settings make."""
    value = attrgetter(setting)
    return Rule(
        setting=setting,
        holds=lambda s: bool(value(s) <= bound(s)),
        allowed=lambda s: f"{plain(bound(s))} or less: {why}",
    )


def accepted(setting: str, accepts: Callable[[Any], bool], allowed: str) -> Rule:
    """A value that is good or bad by itself."""
    value = attrgetter(setting)
    return Rule(setting=setting, holds=lambda s: accepts(value(s)), allowed=lambda _: allowed)


def plain(number: Number) -> str:
    """Digits only: 3456000, 0.5."""
    return f"{number:.3f}".rstrip("0").rstrip(".")
