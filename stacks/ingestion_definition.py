"""The ingestion workflow as it is deployed, but for the addresses that only a deployment knows."""

from typing import TYPE_CHECKING, Any

from stacks.state_machine_files import filled, numbers, parsed

if TYPE_CHECKING:  # the settings' own rules measure this definition
    from stacks.settings.ingestion import IngestionSettings

# Left for CloudFormation: `definition_substitutions` of the state machine.
DEPLOYED = ("IdempotencyGuardArn", "SideEffectArn", "RecordFailureArn", "DeadLetterQueueUrl")


def ingestion_definition(settings: "IngestionSettings") -> dict[str, Any]:
    """`statemachines/ingestion.asl.json`, parsed, with the numbers and the retry rule of `settings` in it."""
    return filled("ingestion.asl.json", _values(settings), left=DEPLOYED)


def _values(settings: "IngestionSettings") -> dict[str, Any]:
    functions, workflow = settings.functions, settings.workflow
    return {
        **numbers(workflow),
        "GuardTimeoutSeconds": settings.task_timeout_seconds(functions.idempotency_guard),
        "SideEffectTimeoutSeconds": settings.task_timeout_seconds(functions.side_effect),
        "RecordFailureTimeoutSeconds": settings.task_timeout_seconds(functions.record_failure),
        "DeadLetterTimeoutSeconds": workflow.dead_letter_timeout_seconds,
        "SettleSeconds": settings.settle_seconds,
        "RetentionSeconds": settings.retention_seconds,
        "SideEffectRetry": parsed("side_effect_retry.json")[settings.semantics],
    }
