"""Settings as the registrations functions read them: text in environment variables, durations in seconds."""

from stacks.environment import for_a_downstream, for_the_policy
from stacks.settings import RegistrationsSettings
from stacks.settings.workload import DAY_SECONDS


def for_the_processor(
    s: RegistrationsSettings, *, parameter_prefix: str, source_bucket: str, dead_letter_queue_url: str
) -> dict[str, str]:
    return {
        "PARAMETER_PREFIX": parameter_prefix,
        **for_the_policy(s),
        "NAMESPACE": s.namespace,
        "LEASE_SECONDS": str(s.lease_seconds),
        "RETENTION_SECONDS": str(s.retention_seconds),
        "LOOKBACK_SECONDS": str(s.lookback_days * DAY_SECONDS),
        "CONCURRENCY": str(s.concurrency),
        "RECORD_SECONDS": str(s.record_seconds),
        "SOURCE_BUCKET": source_bucket,
        "SOURCE_KEY": s.source_key,
        "DLQ_URL": dead_letter_queue_url,
        **for_a_downstream("REGISTRY", url=s.registry_url, deadline_seconds=s.registry_deadline_seconds),
        **for_a_downstream(
            "NOTIFICATION", url=s.notification_url, deadline_seconds=s.notification_deadline_seconds
        ),
    }


def for_the_sweeper(s: RegistrationsSettings, *, parameter_prefix: str) -> dict[str, str]:
    return {"PARAMETER_PREFIX": parameter_prefix, "STALENESS_SECONDS": str(s.staleness_seconds)}
