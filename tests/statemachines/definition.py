"""The workflows' definitions as they are once deployed: settings and addresses in them."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stacks.ingestion_definition import ingestion_definition
from stacks.orders_definition import orders_definition
from stacks.placeholders import fill
from stacks.settings import IngestionSettings, OrdersSettings, StageSettings, read_stage

FUNCTIONS = ("IdempotencyGuard", "SideEffect", "RecordFailure")
ORDERS_FUNCTIONS = ("BeginOrder", "ChargePayment", "ProvisionItem", "FinishOrder")

_FUNCTION_ARN = "arn:aws:lambda:us-east-1:123456789012:function:"
_CDK_JSON = Path(__file__).parents[2] / "cdk.json"


def stage_settings(stage: str, **overrides: object) -> IngestionSettings:
    return _stage(stage, ingestion=overrides).ingestion


def orders_settings(stage: str, **overrides: object) -> OrdersSettings:
    return _stage(stage, orders=overrides).orders


def resolved(settings: IngestionSettings, *, dead_letter_queue: str) -> dict[str, Any]:
    addresses = {**_addresses(FUNCTIONS), "DeadLetterQueueUrl": dead_letter_queue}
    definition: dict[str, Any] = fill(ingestion_definition(settings), addresses, left=())
    return definition


def resolved_orders(settings: OrdersSettings) -> dict[str, Any]:
    definition: dict[str, Any] = fill(orders_definition(settings), _addresses(ORDERS_FUNCTIONS), left=())
    return definition


def members(node: Any) -> Iterator[tuple[str, Any]]:
    """Every name with its value, at any depth."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield name, value
            yield from members(value)
    elif isinstance(node, list):
        for value in node:
            yield from members(value)


def states(definition: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By name, those within a Map too."""
    found: dict[str, dict[str, Any]] = {}
    for name, state in definition["States"].items():
        found[name] = state
        if "ItemProcessor" in state:
            found |= states(state["ItemProcessor"])
    return found


def tasks(definition: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: state for name, state in states(definition).items() if state["Type"] == "Task"}


def _addresses(functions: Sequence[str]) -> dict[str, str]:
    return {f"{name}Arn": _FUNCTION_ARN + name for name in functions}


def _stage(stage: str, **overrides: dict[str, object]) -> StageSettings:
    context = json.loads(_CDK_JSON.read_text(encoding="utf-8"))["context"]
    return read_stage(stage, context["stages"], overrides=overrides)
