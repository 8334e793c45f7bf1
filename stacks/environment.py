"""Settings as the functions of every workload read them: text in environment variables."""

from math import ceil

from stacks.settings import WorkloadSettings

METRICS_NAMESPACE = "IdempotentEvents"

# glibc's look-ups, outside of any deadline of ours, end after two tries of a second each.
BOUNDED_LOOK_UPS = "timeout:1 attempts:2"


def for_every_function(s: WorkloadSettings, *, service: str) -> dict[str, str]:
    """What each function needs to log, to count and to call AWS within bounds."""
    return {
        "SDK_CONNECT_TIMEOUT": f"{s.sdk.connect_timeout_seconds:g}",
        "SDK_READ_TIMEOUT": f"{s.sdk.read_timeout_seconds:g}",
        "SDK_ATTEMPTS": str(s.sdk.attempts),
        # How long one call can take: no record or execution is begun with less time than it may need.
        "SDK_CALL_SECONDS": str(ceil(s.sdk.worst_call_seconds)),
        "POWERTOOLS_SERVICE_NAME": service,
        "POWERTOOLS_METRICS_NAMESPACE": METRICS_NAMESPACE,
        "POWERTOOLS_LOG_LEVEL": "INFO",
    }


def for_the_ledger(s: WorkloadSettings, *, table: str) -> dict[str, str]:
    """What each function needs to read and write claims in a table."""
    return {"LEDGER_TABLE": table, **for_the_policy(s)}


def for_the_policy(s: WorkloadSettings) -> dict[str, str]:
    """What decides about claims, in whatever ledger."""
    return {"SEMANTICS": s.semantics, "MARGIN_SECONDS": str(s.margin_seconds)}


def for_a_downstream(name: str, *, url: str, deadline_seconds: int) -> dict[str, str]:
    """What is called over HTTP, under the name that `wiring.http_effect` knows it by."""
    return {
        f"{name}_URL": url,
        f"{name}_DEADLINE_SECONDS": str(deadline_seconds),
        "RES_OPTIONS": BOUNDED_LOOK_UPS,
    }
