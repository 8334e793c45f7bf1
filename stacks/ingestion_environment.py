"""Settings as the ingestion functions read them: text in environment variables, durations in seconds."""

from stacks.environment import for_a_downstream, for_the_ledger
from stacks.settings import IngestionSettings


def for_the_starter(
    s: IngestionSettings, *, state_machine_arn: str, dead_letter_queue_url: str
) -> dict[str, str]:
    return {
        "STATE_MACHINE_ARN": state_machine_arn,
        "DLQ_URL": dead_letter_queue_url,
        "NAMESPACE": s.namespace,
        "EVENT_SOURCE": s.event_source,
        "EVENT_KEY": s.event_key,
        "FINGERPRINT": s.fingerprint,
        "MISSING_KEY": s.missing_key,
        "STARTER_CONCURRENCY": str(s.delivery.starter_concurrency),
    }


def for_the_idempotency_guard(s: IngestionSettings, *, ledger_table: str) -> dict[str, str]:
    return {
        **for_the_ledger(s, table=ledger_table),
        "LEASE_SECONDS": str(s.lease_seconds),
        "RETRY_FAILED": "true" if s.on_failed_duplicate == "retry" else "false",
    }


def for_the_side_effect(s: IngestionSettings, *, ledger_table: str) -> dict[str, str]:
    return {
        **for_the_ledger(s, table=ledger_table),
        "LEASE_SECONDS": str(s.lease_seconds),
        "RETENTION_SECONDS": str(s.retention_seconds),
        "TASK_TIMEOUT_SECONDS": str(s.task_timeout_seconds(s.functions.side_effect)),
        **for_a_downstream("EFFECT", url=s.effect_url, deadline_seconds=s.effect_deadline_seconds),
    }


def for_record_failure(s: IngestionSettings, *, ledger_table: str) -> dict[str, str]:
    return {**for_the_ledger(s, table=ledger_table), "RETENTION_SECONDS": str(s.retention_seconds)}


def for_the_reconciler(
    s: IngestionSettings, *, ledger_table: str, state_machine_arn: str, dead_letter_queue_url: str
) -> dict[str, str]:
    return {
        **for_the_ledger(s, table=ledger_table),
        "STATE_MACHINE_ARN": state_machine_arn,
        "DLQ_URL": dead_letter_queue_url,
        "MACHINE_TIMEOUT_SECONDS": str(s.workflow.timeout_seconds),
        "SETTLE_SECONDS": str(s.settle_seconds),
    }
