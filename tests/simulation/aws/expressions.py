"""DynamoDB's condition and update expressions, as far as our writes go; anything else is refused."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

Item = dict[str, Any]  # attribute values as DynamoDB writes them: {"S": "text"}
Values = Mapping[str, Any]

_Operand = Callable[[Item, Values], Any]
_Condition = Callable[[Item, Values], bool]
_TOKEN = re.compile(r"\s*([#:]?\w+|<>|<=|>=|[=<>(),+])")
_COMPARATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: _orderable(a, b) and _scalar(a) < _scalar(b),
    "<=": lambda a, b: _orderable(a, b) and _scalar(a) <= _scalar(b),
    ">": lambda a, b: _orderable(a, b) and _scalar(a) > _scalar(b),
    ">=": lambda a, b: _orderable(a, b) and _scalar(a) >= _scalar(b),
}


def holds(condition: str | None, names: Mapping[str, str], item: Item, values: Values) -> bool:
    """`item` is empty where there is none."""
    return condition is None or _condition(condition, tuple(sorted(names.items())))(item, values)


def updated(update: str, names: Mapping[str, str], item: Item, values: Values) -> Item:
    assignments, removed = _update(update, tuple(sorted(names.items())))
    after = {name: value for name, value in item.items() if name not in removed}
    for name, operand in assignments:
        after[name] = operand(item, values)  # every operand is of the item before the update
    return after


@cache
def _condition(text: str, names: tuple[tuple[str, str], ...]) -> _Condition:
    parser = _Parser(text, dict(names))
    condition = parser.either()
    parser.end()
    return condition


@cache
def _update(text: str, names: tuple[tuple[str, str], ...]) -> tuple[list[tuple[str, _Operand]], set[str]]:
    parser = _Parser(text, dict(names))
    assignments, removed = [], set()
    while not parser.at_end:
        clause = parser.take()
        while True:
            name = parser.name()
            if clause == "SET":
                parser.expect("=")
                assignments.append((name, parser.operand()))
            elif clause == "ADD":
                assignments.append((name, _increased(name, parser.take())))
            else:
                assert clause == "REMOVE", clause
                removed.add(name)
            if parser.next != ",":
                break
            parser.take()
    return assignments, removed


def _increased(name: str, by: str) -> _Operand:
    """A number that is not there counts as zero."""
    return lambda item, values: {
        "N": str(_scalar(item.get(name, {"N": "0"})) + _scalar(values[by])),
    }


class _Parser:
    def __init__(self, text: str, names: dict[str, str]) -> None:
        self._tokens = _TOKEN.findall(text)
        assert "".join(self._tokens) == re.sub(r"\s", "", text), f"can't be read: {text}"
        self._names = names
        self._place = 0

    @property
    def next(self) -> str:
        return "" if self.at_end else self._tokens[self._place]

    @property
    def at_end(self) -> bool:
        return self._place == len(self._tokens)

    def take(self) -> str:
        self._place += 1
        token: str = self._tokens[self._place - 1]
        return token

    def expect(self, token: str) -> None:
        taken = self.take()
        assert taken == token, f"{taken} where {token} has to stand"

    def end(self) -> None:
        assert self.at_end, f"{self.next} is too much"

    def name(self) -> str:
        token = self.take()
        return self._names[token] if token.startswith("#") else token

    def either(self) -> _Condition:
        parts = [self.all()]
        while self.next == "OR":
            self.take()
            parts.append(self.all())
        return lambda item, values: any(part(item, values) for part in parts)

    def all(self) -> _Condition:
        parts = [self._one()]
        while self.next == "AND":
            self.take()
            parts.append(self._one())
        return lambda item, values: all(part(item, values) for part in parts)

    def _one(self) -> _Condition:
        if self.next == "(":
            self.take()
            inner = self.either()
            self.expect(")")
            return inner
        if self.next in ("attribute_exists", "attribute_not_exists"):
            there = self.take() == "attribute_exists"
            self.expect("(")
            name = self.name()
            self.expect(")")
            return lambda item, _: (name in item) is there
        return self._comparison()

    def _comparison(self) -> _Condition:
        left = self.operand()
        if self.next == "IN":
            self.take()
            self.expect("(")
            options = [self.operand()]
            while self.take() == ",":
                options.append(self.operand())
            return lambda item, values: any(left(item, values) == each(item, values) for each in options)
        compare = _COMPARATORS[self.take()]
        right = self.operand()

        def holds(item: Item, values: Values) -> bool:
            """A comparison with an attribute that is absent is false, `<>` apart."""
            return bool(compare(left(item, values), right(item, values)))

        return holds

    def operand(self) -> _Operand:
        if self.next == "if_not_exists":
            self.take()
            self.expect("(")
            name = self.name()
            self.expect(",")
            otherwise = self.operand()
            self.expect(")")
            return lambda item, values: item[name] if name in item else otherwise(item, values)
        if self.next.startswith(":"):
            value = self.take()
            return lambda _, values: values[value]
        attribute = self.name()
        return lambda item, _: item.get(attribute)


def _orderable(a: Any, b: Any) -> bool:
    return a is not None and b is not None and a.keys() == b.keys()


def _scalar(value: dict[str, Any]) -> Any:
    ((kind, content),) = value.items()
    return Decimal(content) if kind == "N" else content
