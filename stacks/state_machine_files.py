"""The files of `statemachines`: definitions, and the retry rules that are put into them."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacks.placeholders import fill

if TYPE_CHECKING:  # the settings' own rules measure the definitions
    from stacks.settings.workflow import WorkflowSettings

STATE_MACHINES = Path(__file__).parent.parent / "statemachines"


def parsed(name: str) -> Any:
    return json.loads((STATE_MACHINES / name).read_text(encoding="utf-8"))


def filled(name: str, values: Mapping[str, Any], *, left: Collection[str]) -> dict[str, Any]:
    """A definition with `values` in it; `left` is for CloudFormation."""
    definition = fill(parsed(name), values, left=left)
    assert isinstance(definition, dict)  # noqa: S101  a state machine is an object
    return definition


def numbers(workflow: "WorkflowSettings") -> dict[str, int]:
    """Those that every definition has."""
    return {
        "MachineTimeoutSeconds": workflow.timeout_seconds,
        "RetryIntervalSeconds": workflow.retry_interval_seconds,
        "RetryAttempts": workflow.retry_attempts,
        "RetryMaxDelaySeconds": workflow.retry_max_delay_seconds,
    }
