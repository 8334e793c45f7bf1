"""The ingestion workflow as it is deployed, but for the addresses that only a deployment knows."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacks.placeholders import fill

if TYPE_CHECKING:  # the settings' own rules measure this definition
    from stacks.settings.ingestion import IngestionSettings

STATE_MACHINES = Path(__file__).parent.parent / "statemachines"

# Left for CloudFormation: `definition_substitutions` of the state machine.
DEPLOYED = ("IdempotencyGuardArn", "SideEffectArn", "RecordFailureArn", "DeadLetterQueueUrl")


def ingestion_definition(settings: "IngestionSettings") -> dict[str, Any]:
    """`statemachines/ingestion.asl.json`, parsed, with the numbers and the retry rule of `settings` in it."""
    definition = fill(_parsed("ingestion.asl.json"), _values(settings), left=DEPLOYED)
    assert isinstance(definition, dict)  # noqa: S101  a state machine is an object
    return definition


def _values(settings: "IngestionSettings") -> dict[str, Any]:
    functions, workflow = settings.functions, settings.workflow
    return {
        "MachineTimeoutSeconds": workflow.timeout_seconds,
        "GuardTimeoutSeconds": settings.task_timeout_seconds(functions.idempotency_guard),
        "SideEffectTimeoutSeconds": settings.task_timeout_seconds(functions.side_effect),
        "RecordFailureTimeoutSeconds": settings.task_timeout_seconds(functions.record_failure),
        "DeadLetterTimeoutSeconds": workflow.dead_letter_timeout_seconds,
        "SettleSeconds": settings.settle_seconds,
        "RetentionSeconds": settings.retention_seconds,
        "RetryIntervalSeconds": workflow.retry_interval_seconds,
        "RetryAttempts": workflow.retry_attempts,
        "RetryMaxDelaySeconds": workflow.retry_max_delay_seconds,
        "SideEffectRetry": _parsed("side_effect_retry.json")[settings.semantics],
    }


def _parsed(name: str) -> Any:
    return json.loads((STATE_MACHINES / name).read_text(encoding="utf-8"))
