"""What each setting must be by itself."""

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter

from stacks.log_retention import LOG_RETENTION
from stacks.settings.charges import ChargesFunctions
from stacks.settings.ingestion import IngestionFunctions
from stacks.settings.orders import GATEWAY_SECONDS, OrdersFunctions, OrdersSettings
from stacks.settings.registrations import RegistrationsFunctions
from stacks.settings.rule import Rule, accepted, within
from stacks.settings.texts import (
    is_bus_source,
    is_downstream_url,
    is_email,
    is_event_source,
    is_issuer,
    is_jmespath,
    is_name,
    is_object_key,
    is_topic_arn,
    is_user_pool_arn,
    names_a_part,
)

LONGEST_LEASE_SECONDS = 12 * 3600  # so a lease always ends before its record's retention, of whole days
LONGEST_FUNCTION_SECONDS = 14 * 60  # a minute below Lambda's own limit
CONNECTIONS = 50  # of each client: `max_pool_connections` in wiring.py
LONGEST_INTERVAL_MINUTES = 12 * 60  # so the shortest lookback and retention, a day each, see two runs

_LOG_RETENTIONS = ", ".join(str(days) for days in LOG_RETENTION)
_A_NAME = "1 to 64 of A-Z a-z 0-9 . _ -"
_AN_ADDRESS = "an https:// address without a password (http:// only to 127.0.0.1)"

STAGE_LIMITS = (
    accepted("log_retention_days", LOG_RETENTION.__contains__, f"one of {_LOG_RETENTIONS}"),
    accepted("alarms.topic_arn", lambda arn: arn == "" or is_topic_arn(arn), "an SNS topic's ARN or empty"),
    accepted("alarms.email", lambda text: text == "" or is_email(text), "an e-mail address or empty"),
    # Beyond the longest visibility timeout, 12 hours, it is still before any message is deleted unhandled.
    within("alarms.backlog_seconds", 60, 21_600),
    within("alarms.client_errors", 1, 1_000_000),
)


def _downstream(name: str) -> tuple[Rule, ...]:
    """Of what is called over HTTP."""
    return (
        accepted(f"{name}_url", is_downstream_url, _AN_ADDRESS),
        within(f"{name}_deadline_seconds", 1, LONGEST_FUNCTION_SECONDS),
    )


def _only_of(setting: str, authorization: str, accepts: Callable[[str], bool], allowed: str) -> Rule:
    """Needed where `api.authorization` is this, and refused elsewhere: it would be without effect."""
    value = attrgetter(setting)

    def needed(s: OrdersSettings) -> bool:
        return s.api.authorization == authorization

    return Rule(
        setting=setting,
        holds=lambda s: accepts(value(s)) if needed(s) else value(s) == "",
        allowed=lambda s: allowed if needed(s) else f"empty unless authorization is {authorization}",
    )


def _functions(kind: type) -> tuple[Rule, ...]:
    """Lambda: CreateFunction."""
    names = [field.name for field in fields(kind)]
    return (
        *(within(f"functions.{name}.timeout_seconds", 1, LONGEST_FUNCTION_SECONDS) for name in names),
        *(within(f"functions.{name}.memory_mb", 128, 10_240) for name in names),
    )


_WORKLOAD_LIMITS = (
    within("margin_seconds", 1, 3600),
    within("retention_days", 1, 3650),
    within("sdk.connect_timeout_seconds", 0.1, 60),
    within("sdk.read_timeout_seconds", 0.1, 60),
    within("sdk.attempts", 1, 10),
)

_CLAIMING_LIMITS = (
    accepted("namespace", is_name, _A_NAME),
    within("lease_seconds", 1, LONGEST_LEASE_SECONDS),
    *_WORKLOAD_LIMITS,
)

_QUEUED_LIMITS = (
    *_CLAIMING_LIMITS,
    within("redrives", 1, 100),
    # SQS: CreateQueue
    within("queue.visibility_timeout_seconds", 0, 43_200),
    within("queue.retention_days", 1, 14),
    within("queue.dead_letter_retention_days", 14, 14),  # as long as SQS can: what SQS moves keeps its age
    within("queue.max_receive_count", 5, 1000),  # invocations that are throttled use up receives too
    # Lambda: CreateEventSourceMapping
    within("delivery.batch_size", 1, 10_000),
    within("delivery.batch_window_seconds", 0, 300),
    within("delivery.max_concurrency", 2, 1000),
)

_WORKFLOW_LIMITS = (
    within("workflow.timeout_seconds", 1, LONGEST_LEASE_SECONDS),
    within("workflow.task_headroom_seconds", 5, 300),
    within("workflow.retry_interval_seconds", 1, 3600),
    within("workflow.retry_attempts", 1, 20),
    within("workflow.retry_max_delay_seconds", 2, 3600),
)

INGESTION_LIMITS = (
    *_downstream("effect"),
    accepted("event_source", is_event_source, f"{_A_NAME} and not sqs, the source of MessageIds"),
    accepted("event_key", is_jmespath, "a JMESPath expression"),
    accepted("event_key", names_a_part, "an expression that finds a part of the body, not the same in each"),
    accepted("fingerprint", lambda text: text == "" or is_jmespath(text), "a JMESPath expression or empty"),
    *_QUEUED_LIMITS,
    within("delivery.starter_concurrency", 1, 100),
    *_functions(IngestionFunctions),
    *_WORKFLOW_LIMITS,
    within("workflow.dead_letter_timeout_seconds", 5, 300),
)

CHARGES_LIMITS = (
    *_downstream("core_banking"),
    *_downstream("notification"),
    *_QUEUED_LIMITS,
    within("delivery.concurrency", 1, CONNECTIONS),
    *_functions(ChargesFunctions),
)

REGISTRATIONS_LIMITS = (
    *_downstream("registry"),
    *_downstream("notification"),
    *_CLAIMING_LIMITS,
    within("lookback_days", 1, 3649),
    accepted("event_source", is_bus_source, f"{_A_NAME} and not aws.…, which are AWS's own"),
    accepted("source_key", is_object_key, "1 to 256 of A-Z a-z 0-9 . _ / -"),
    within("interval_minutes", 1, LONGEST_INTERVAL_MINUTES),
    within("sweep_interval_minutes", 1, LONGEST_INTERVAL_MINUTES),
    within("staleness_seconds", 1, 86_400),
    within("parameter_share", 2, 10_000),  # a key holds two; what an account can hold in a Region
    within("concurrency", 1, CONNECTIONS),
    *_functions(RegistrationsFunctions),
)

ORDERS_LIMITS = (
    *_downstream("payment"),
    *_downstream("provisioning"),
    accepted(
        "semantics",
        "idempotent-downstream".__eq__,
        "idempotent-downstream: no record of a task outlives a call that raised, which is so made again",
    ),
    *_WORKLOAD_LIMITS,
    within("retry_window_days", 1, 60),
    within("retention_days", 1, 89),  # Step Functions gives an execution's name away again after 90 days
    within("task_retention_days", 1, 3650),
    _only_of("api.cognito_user_pool_arn", "cognito", is_user_pool_arn, "the ARN of a Cognito user pool"),
    _only_of(
        "api.jwt_issuer", "jwt", is_issuer, "an https:// address without query: an OpenID Connect issuer"
    ),
    _only_of("api.jwt_audience", "jwt", bool, "what tokens for this API have in `aud` or `client_id`"),
    within("api.rate_per_second", 1, 10_000),
    within("api.burst", 1, 5000),
    *_functions(OrdersFunctions),
    # API Gateway answers 504 after so long, whatever the function goes on to do.
    within("functions.accept_order.timeout_seconds", 1, GATEWAY_SECONDS),
    within("functions.order_status.timeout_seconds", 1, GATEWAY_SECONDS),
    *_WORKFLOW_LIMITS,
    within("workflow.in_progress_interval_seconds", 1, 3600),
    within("workflow.lost_invocations", 1, 20),
    within("workflow.provisioning_concurrency", 1, 40),  # of an inline Map; Step Functions runs no more
)
