"""Each setting of ingestion that is refused, and the line that says so."""

import json
from typing import Any

import pytest

from tests.infrastructure.refusals import nested, refusal, stage

A_NAME = "1 to 64 of A-Z a-z 0-9 . _ -"
A_PART_OF_THE_BODY = "an expression that finds a part of the body, not the same in each"
AN_ADDRESS = "an https:// address without a password (http:// only to 127.0.0.1)"


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("effect_url", "http://effects.test/events", AN_ADDRESS),
        ("effect_url", "https://user:secret@effects.test/events", AN_ADDRESS),
        ("effect_url", "https://effects.test:port/events", AN_ADDRESS),
        ("effect_url", "https:///events", AN_ADDRESS),
        ("effect_url", "effects.test", AN_ADDRESS),
        ("effect_url", "https://effects.test/a b", AN_ADDRESS),
        ("effect_url", "https://effëcts.test", AN_ADDRESS),
        ("effect_url", "https://effects..test", AN_ADDRESS),
        ("effect_url", 7, "text"),
        ("effect_deadline_seconds", 0, "between 1 and 840"),
        ("effect_deadline_seconds", 1.5, "a whole number"),
        ("event_source", "a:b", f"{A_NAME} and not sqs, the source of MessageIds"),
        ("event_source", "sqs", f"{A_NAME} and not sqs, the source of MessageIds"),
        ("event_key", "", "a JMESPath expression"),
        ("event_key", "a..b", "a JMESPath expression"),
        ("event_key", "'eventId'", A_PART_OF_THE_BODY),  # quoted singly it is a literal, alike for each event
        ("event_key", "length(@)", A_PART_OF_THE_BODY),
        ("event_key", "eventId == `null`", A_PART_OF_THE_BODY),
        ("fingerprint", "[", "a JMESPath expression or empty"),
        ("missing_key", "skip", "dead-letter or message-id"),
        ("on_failed_duplicate", "skip", "dead-letter or retry"),
        ("delivery.starter_concurrency", 0, "between 1 and 100"),
        ("functions.starter.timeout_seconds", 841, "between 1 and 840"),
        ("functions.idempotency_guard.timeout_seconds", 841, "between 1 and 840"),
        ("functions.side_effect.timeout_seconds", 841, "between 1 and 840"),
        ("functions.record_failure.timeout_seconds", 841, "between 1 and 840"),
        ("functions.reconciler.timeout_seconds", 841, "between 1 and 840"),
        ("workflow.timeout_seconds", 43_201, "between 1 and 43200"),
        ("workflow.task_headroom_seconds", 4, "between 5 and 300"),
        ("workflow.dead_letter_timeout_seconds", 4, "between 5 and 300"),
        ("workflow.retry_interval_seconds", 0, "between 1 and 3600"),
        ("workflow.retry_attempts", 0, "between 1 and 20"),
        ("workflow.retry_max_delay_seconds", 1, "between 2 and 3600"),
    ],
)
def test_a_value_that_is_wrong_by_itself_is_refused(setting: str, value: object, allowed: str) -> None:
    line = f"{setting} = {json.dumps(value)}: must be {allowed}"
    assert refusal("ingestion", nested(setting, value)) == line


@pytest.mark.parametrize(
    "name", ["starter", "idempotency_guard", "side_effect", "record_failure", "reconciler"]
)
def test_a_memory_that_lambda_does_not_have_is_refused(name: str) -> None:
    refused = refusal("ingestion", {"functions": {name: {"memory_mb": 64}}})
    assert refused == f"functions.{name}.memory_mb = 64: must be between 128 and 10240"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"queue": {"visibility_timeout_seconds": 359}},
            (
                "queue.visibility_timeout_seconds = 359: must be 360 or more: "
                "6 times the starter's timeout + batch window"
            ),
        ),
        (
            {"delivery": {"batch_window_seconds": 1}},
            (
                "queue.visibility_timeout_seconds = 360: must be 361 or more: "
                "6 times the starter's timeout + batch window"
            ),
        ),
        (
            {"delivery": {"starter_concurrency": 2}},
            (
                "functions.starter.timeout_seconds = 60: must be more than 60: "
                "a call per record, batch / concurrency in a row"
            ),
        ),
        (
            {"functions": {"idempotency_guard": {"timeout_seconds": 48}}},
            "functions.idempotency_guard.timeout_seconds = 48: must be more than 48: 4 calls",
        ),
        (
            {"functions": {"side_effect": {"timeout_seconds": 44}}},
            "functions.side_effect.timeout_seconds = 44: must be more than 44: 2 calls + effect deadline",
        ),
        (
            {"effect_deadline_seconds": 36},
            "functions.side_effect.timeout_seconds = 60: must be more than 60: 2 calls + effect deadline",
        ),
        (
            {"functions": {"record_failure": {"timeout_seconds": 36}}},
            "functions.record_failure.timeout_seconds = 36: must be more than 36: 3 calls",
        ),
        (
            {"functions": {"reconciler": {"timeout_seconds": 84}}},
            "functions.reconciler.timeout_seconds = 84: must be more than 84: 7 calls",
        ),
        (
            {"functions": {"reconciler": {"timeout_seconds": 300}}},
            "functions.reconciler.timeout_seconds = 300: must be 299 or less: runs must not overlap",
        ),
        (
            {"sdk": {"read_timeout_seconds": 3}},
            "functions.idempotency_guard.timeout_seconds = 60: must be more than 60: 4 calls",
        ),
        (
            {"workflow": {"retry_interval_seconds": 60}},
            "workflow.retry_max_delay_seconds = 60: must be more than 60: retry_interval_seconds",
        ),
        (
            {"workflow": {"timeout_seconds": 2123}},
            (
                "workflow.timeout_seconds = 2123: must be more than 2123: "
                "the slowest path through ingestion.asl.json"
            ),
        ),
        (
            {"lease_seconds": 3660},
            "lease_seconds = 3660: must be more than 3660: workflow timeout + margin",
        ),
    ],
)
def test_a_value_that_does_not_go_with_the_others_is_refused(given: dict[str, Any], line: str) -> None:
    """Each at the last value that is wrong."""
    assert refusal("ingestion", given) == line


@pytest.mark.parametrize(
    "given",
    [
        {"delivery": {"batch_size": 11, "starter_concurrency": 11, "batch_window_seconds": 1}}
        | {"queue": {"visibility_timeout_seconds": 361}},
        {"delivery": {"starter_concurrency": 3}},
        {"functions": {"idempotency_guard": {"timeout_seconds": 49}}},
        {"functions": {"side_effect": {"timeout_seconds": 45}}},
        {"functions": {"record_failure": {"timeout_seconds": 37}}},
        {"functions": {"reconciler": {"timeout_seconds": 85}}},
        {"functions": {"reconciler": {"timeout_seconds": 299}}},
        {"workflow": {"timeout_seconds": 2124}},
        {"lease_seconds": 3661},
    ],
)
def test_the_next_value_is_accepted(given: dict[str, Any]) -> None:
    assert stage("ingestion", given)
