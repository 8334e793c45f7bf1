"""Settings of a stage that a test varies, and the line that refuses them."""

from typing import Any

import pytest

from stacks.refusal import Refusal
from stacks.settings import StageSettings, read_stage

# All that has no default, by workload.
NEEDED: dict[str, dict[str, object]] = {
    "ingestion": {"effect_url": "https://effects.test/events"},
    "charges": {
        "core_banking_url": "https://bank.test/debits",
        "notification_url": "https://notifications.test/messages",
    },
    "registrations": {
        "registry_url": "https://registry.test/expiries",
        "notification_url": "https://notifications.test/messages",
    },
    "orders": {
        "payment_url": "https://payments.test/charges",
        "provisioning_url": "https://provisioning.test/items",
    },
}


def stage(workload: str, given: dict[str, Any], **of_stage: object) -> StageSettings:
    """The defaults, with what is `given` of one workload."""
    return read_stage("dev", {"dev": {**NEEDED, **of_stage, workload: {**NEEDED[workload], **given}}})


def refusal(workload: str, given: dict[str, Any], **of_stage: object) -> str:
    """The line, without the place of the workload's settings before it."""
    with pytest.raises(Refusal) as refused:
        stage(workload, given, **of_stage)
    line = str(refused.value)
    at = f"stages.dev.{workload}."
    assert line.startswith(at)
    assert "\n" not in line
    return line.removeprefix(at)


def nested(setting: str, value: object) -> dict[str, Any]:
    """`a.b.c` and 1 become `{"a": {"b": {"c": 1}}}`."""
    *groups, name = setting.split(".")
    made: Any = {name: value}
    for group in reversed(groups):
        made = {group: made}
    return dict(made)
