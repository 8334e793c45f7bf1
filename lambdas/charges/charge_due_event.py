"""The wire format: a ChargeDueEvent as JSON, read into a Charge or refused with the field that is wrong."""

import json
import re
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from charges.model import MAX_TEXT, Charge, InvalidCharge, Money

_MAX_DIGITS = 40  # of an amount; more is refused before Decimal is asked to compute with it

_NUMERAL = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def parse(body: str) -> Charge:
    """Raises InvalidCharge; its field is `json` where the body is no JSON object at all."""
    event = _object(body)
    return Charge(
        id=_text(event, "chargeId"),
        account_id=_text(event, "accountId"),
        money=Money(amount=_amount(event), currency=_text(event, "currency")),
        type=_text(event, "type"),
        due_at=_time(event, "dueAt"),
    )


def _object(body: str) -> dict[str, Any]:
    try:
        event = json.loads(body, parse_float=_number, parse_int=_number, parse_constant=Decimal)
    except (ValueError, RecursionError) as error:
        raise InvalidCharge("json", "can't be read") from error
    if not isinstance(event, dict):
        raise InvalidCharge("json", "is no object")
    return event


def _number(digits: str) -> Decimal | str:
    """A number too long to compute with stays text; only `amount` takes numbers, and refuses it.

    So it does NaN and Infinity, which are no JSON: the reason then names the field.
    """
    try:
        return Decimal(digits) if len(digits) <= _MAX_DIGITS else digits
    except InvalidOperation:  # an exponent beyond what Decimal holds
        return digits


def _amount(event: dict[str, Any]) -> Decimal:
    match event.get("amount"):
        case Decimal() as amount:
            return amount
        case str(text) if len(text) <= _MAX_DIGITS and _NUMERAL.fullmatch(text):
            try:
                return Decimal(text)
            except InvalidOperation as error:
                raise InvalidCharge("amount", "is no decimal number") from error
        case _:
            raise InvalidCharge("amount", "must be a decimal number")


def _text(event: dict[str, Any], field: str) -> str:
    value = event.get(field)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_TEXT:
        raise InvalidCharge(field, f"must be text of 1 to {MAX_TEXT} characters")
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise InvalidCharge(field, "must be printable ASCII without spaces around it")
    return value


def _time(event: dict[str, Any], field: str) -> datetime:
    try:
        return datetime.fromisoformat(_text(event, field))
    except InvalidCharge:
        raise
    except ValueError:
        raise InvalidCharge(field, "is no ISO 8601 time") from None
