"""Settings as the charges functions read them: text in environment variables, durations in seconds."""

from stacks.environment import for_a_downstream, for_the_ledger
from stacks.settings import ChargesSettings


def for_the_consumer(
    s: ChargesSettings, *, ledger_table: str, queue_url: str, dead_letter_queue_url: str
) -> dict[str, str]:
    return {
        **for_the_ledger(s, table=ledger_table),
        "QUEUE_URL": queue_url,
        "DLQ_URL": dead_letter_queue_url,
        "MAX_RECEIVE_COUNT": str(s.queue.max_receive_count),
        "NAMESPACE": s.namespace,
        "LEASE_SECONDS": str(s.lease_seconds),
        "RETENTION_SECONDS": str(s.retention_seconds),
        "CONCURRENCY": str(s.delivery.concurrency),
        "RECORD_SECONDS": str(s.record_seconds),
        **for_a_downstream(
            "CORE_BANKING", url=s.core_banking_url, deadline_seconds=s.core_banking_deadline_seconds
        ),
        **for_a_downstream(
            "NOTIFICATION", url=s.notification_url, deadline_seconds=s.notification_deadline_seconds
        ),
    }
