"""Settings as the ingestion functions read them: text in environment variables, durations in seconds."""

from math import ceil

from stacks.settings import IngestionSettings

# glibc's look-ups, outside of any deadline of ours, end after two tries of a second each.
BOUNDED_LOOK_UPS = "timeout:1 attempts:2"


def for_every_function(s: IngestionSettings) -> dict[str, str]:
    """What each function needs to log, to count and to call AWS within bounds."""
    return {
        "SDK_CONNECT_TIMEOUT": f"{s.sdk.connect_timeout_seconds:g}",
        "SDK_READ_TIMEOUT": f"{s.sdk.read_timeout_seconds:g}",
        "SDK_ATTEMPTS": str(s.sdk.attempts),
        # How long one call can take: no record or execution is begun with less time than it may need.
        "SDK_CALL_SECONDS": str(ceil(s.sdk.worst_call_seconds)),
        "POWERTOOLS_SERVICE_NAME": "ingestion",
        "POWERTOOLS_METRICS_NAMESPACE": "IdempotentEvents",
        "POWERTOOLS_LOG_LEVEL": "INFO",
    }


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
        **_ledger(s, ledger_table),
        "LEASE_SECONDS": str(s.lease_seconds),
        "RETRY_FAILED": "true" if s.on_failed_duplicate == "retry" else "false",
    }


def for_the_side_effect(s: IngestionSettings, *, ledger_table: str) -> dict[str, str]:
    return {
        **_ledger(s, ledger_table),
        "LEASE_SECONDS": str(s.lease_seconds),
        "RETENTION_SECONDS": str(s.retention_seconds),
        "TASK_TIMEOUT_SECONDS": str(s.task_timeout_seconds(s.functions.side_effect)),
        "EFFECT_URL": s.effect_url,
        "EFFECT_DEADLINE_SECONDS": str(s.effect_deadline_seconds),
        "RES_OPTIONS": BOUNDED_LOOK_UPS,
    }


def for_record_failure(s: IngestionSettings, *, ledger_table: str) -> dict[str, str]:
    return {**_ledger(s, ledger_table), "RETENTION_SECONDS": str(s.retention_seconds)}


def for_the_reconciler(
    s: IngestionSettings, *, ledger_table: str, state_machine_arn: str, dead_letter_queue_url: str
) -> dict[str, str]:
    return {
        **_ledger(s, ledger_table),
        "STATE_MACHINE_ARN": state_machine_arn,
        "DLQ_URL": dead_letter_queue_url,
        "MACHINE_TIMEOUT_SECONDS": str(s.workflow.timeout_seconds),
        "SETTLE_SECONDS": str(s.settle_seconds),
    }


def _ledger(s: IngestionSettings, table: str) -> dict[str, str]:
    return {"LEDGER_TABLE": table, "SEMANTICS": s.semantics, "MARGIN_SECONDS": str(s.margin_seconds)}
