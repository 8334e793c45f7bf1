"""Each setting that is refused, and the line that says so."""

import json
from typing import Any

import pytest

from stacks.refusal import Refusal
from stacks.settings import StageSettings, read_stage
from stacks.settings.limits import LONGEST_LEASE_SECONDS
from stacks.settings.model import DAY_SECONDS
from tests.infrastructure.synthesis import context

URL = "https://effects.test/events"
AT = "stages.dev.ingestion"
A_NAME = "1 to 64 of A-Z a-z 0-9 . _ -"
A_PART_OF_THE_BODY = "an expression that finds a part of the body, not the same in each"
AN_ADDRESS = "an https:// address without a password (http:// only to 127.0.0.1)"


def stage(**ingestion: Any) -> StageSettings:
    return read_stage("dev", {"dev": {"ingestion": {"effect_url": URL, **ingestion}}})


def refusal(**ingestion: Any) -> str:
    with pytest.raises(Refusal) as refused:
        stage(**ingestion)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def nested(setting: str, value: object) -> dict[str, Any]:
    """`a.b.c` and 1 become `{"a": {"b": {"c": 1}}}`."""
    *groups, name = setting.split(".")
    made: Any = {name: value}
    for group in reversed(groups):
        made = {group: made}
    return dict(made)


def test_the_defaults_keep_every_rule() -> None:
    assert stage().ingestion.semantics == "at-most-once"


def test_the_defaults_keep_every_rule_under_the_other_semantics() -> None:
    assert stage(semantics="idempotent-downstream").ingestion.semantics == "idempotent-downstream"


@pytest.mark.parametrize("name", ["dev", "prod", "sandbox"])
def test_the_stages_of_cdk_json_keep_every_rule(name: str) -> None:
    assert read_stage(name, context()["stages"]).stage == name


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        stage().ingestion.lease_seconds = 1  # type: ignore[misc]


def test_a_group_that_is_given_in_part_keeps_its_other_defaults() -> None:
    settings = stage(sdk={"attempts": 2}, functions={"starter": {"memory_mb": 512}}).ingestion
    assert (settings.sdk.attempts, settings.sdk.read_timeout_seconds) == (2, 2.0)
    starter, reconciler = settings.functions.starter, settings.functions.reconciler
    assert (starter.memory_mb, starter.timeout_seconds, reconciler.timeout_seconds) == (512, 60, 240)


def test_a_whole_number_may_stand_for_a_number() -> None:
    assert stage(sdk={"read_timeout_seconds": 1}).ingestion.sdk.read_timeout_seconds == 1.0


def test_overrides_replace_what_cdk_json_gives() -> None:
    given = {"dev": {"ingestion": {"effect_url": URL}}}
    settings = read_stage("dev", given, overrides={"effect_url": "http://127.0.0.1:1234/events"})
    assert settings.ingestion.effect_url == "http://127.0.0.1:1234/events"


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
        ("semantics", "exactly-once", "at-most-once or idempotent-downstream"),
        ("namespace", "", A_NAME),
        ("namespace", "a:b", A_NAME),
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
        ("lease_seconds", "5400", "a whole number"),
        ("lease_seconds", True, "a whole number"),
        ("lease_seconds", 43_201, "between 1 and 43200"),
        ("margin_seconds", 0, "between 1 and 3600"),
        ("retention_days", 3651, "between 1 and 3650"),
        ("redrives", 0, "between 1 and 100"),
        ("sdk.connect_timeout_seconds", 0, "between 0.1 and 60"),
        ("sdk.read_timeout_seconds", "2", "a number"),
        ("sdk.read_timeout_seconds", 61, "between 0.1 and 60"),
        ("sdk.attempts", 0, "between 1 and 10"),
        ("queue.visibility_timeout_seconds", 43_201, "between 0 and 43200"),
        ("queue.retention_days", 15, "between 1 and 14"),
        ("queue.dead_letter_retention_days", 13, "between 14 and 14"),
        ("queue.max_receive_count", 4, "between 5 and 1000"),
        ("delivery.batch_size", 0, "between 1 and 10000"),
        ("delivery.batch_window_seconds", 301, "between 0 and 300"),
        ("delivery.max_concurrency", 1, "between 2 and 1000"),
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
    line = f"{AT}.{setting} = {json.dumps(value)}: must be {allowed}"
    assert refusal(**nested(setting, value)) == line


@pytest.mark.parametrize(
    "name", ["starter", "idempotency_guard", "side_effect", "record_failure", "reconciler"]
)
def test_a_memory_that_lambda_does_not_have_is_refused(name: str) -> None:
    refused = refusal(functions={name: {"memory_mb": 64}})
    assert refused == f"{AT}.functions.{name}.memory_mb = 64: must be between 128 and 10240"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"delivery": {"batch_size": 11, "starter_concurrency": 11}},
            "delivery.batch_window_seconds = 0: must be 1 or more: Lambda waits for batches over 10",
        ),
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
        (
            {"retention_days": 39},
            "retention_days = 39: must be 40 or more: source retention + redrives * (DLQ + source retention)",
        ),
        (
            {"redrives": 3},
            "retention_days = 40: must be 58 or more: source retention + redrives * (DLQ + source retention)",
        ),
    ],
)
def test_a_value_that_does_not_go_with_the_others_is_refused(given: dict[str, Any], line: str) -> None:
    """Each at the last value that is wrong."""
    assert refusal(**given) == f"{AT}.{line}"


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
        {"redrives": 1, "retention_days": 22},
    ],
)
def test_the_next_value_is_accepted(given: dict[str, Any]) -> None:
    assert stage(**given)


def test_a_lease_always_ends_before_its_records_retention() -> None:
    """Retention is of whole days, so no rule needs to compare the two."""
    assert LONGEST_LEASE_SECONDS < DAY_SECONDS


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"lease_second": 1}, f"{AT}.lease_second = 1: no such setting, did you mean lease_seconds?"),
        (
            {"sdk": {"tries": 1}},
            (
                f"{AT}.sdk.tries = 1: no such setting, known are connect_timeout_seconds, "
                "read_timeout_seconds, attempts"
            ),
        ),
        ({"sdk": 3}, f"{AT}.sdk = 3: must be an object of settings"),
    ],
)
def test_a_typing_error_is_not_silently_without_effect(given: dict[str, Any], line: str) -> None:
    assert refusal(**given) == line


@pytest.mark.parametrize(
    ("name", "stages", "line"),
    [
        (None, {}, "stage is not given: add -c stage=<dev|prod|sandbox>"),
        ("qa", {}, 'stage = "qa": must be dev, prod or sandbox'),
        (["dev"], {}, 'stage = ["dev"]: must be dev, prod or sandbox'),
        ("dev", {}, "stages.dev is not in the context of cdk.json"),
        ("dev", None, "stages.dev is not in the context of cdk.json"),
        ("dev", {"dev": 1}, "stages.dev = 1: must be an object of settings"),
        ("dev", {"dev": {}}, "stages.dev.ingestion.effect_url is not given, and has no default"),
        ("dev", {"dev": {"ingestion": 1}}, "stages.dev.ingestion = 1: must be an object of settings"),
        ("dev", {"dev": {"stage": "prod"}}, "stages.dev.stage = 'prod': the stage's name is its key"),
        (
            "dev",
            {"dev": {"ingestion": {"effect_url": URL}, "log_retention_days": 2}},
            (
                "stages.dev.log_retention_days = 2: must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, "
                "180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653"
            ),
        ),
        (
            "dev",
            {"dev": {"ingestion": {"effect_url": URL}, "deletion_protection": True}},
            (
                'stages.dev.removal = "destroy": must be retain where deletion_protection is true: '
                "a protected table is not deleted"
            ),
        ),
        (
            "dev",
            {"dev": {"ingestion": {"effect_url": URL}, "deletion_protection": "yes"}},
            'stages.dev.deletion_protection = "yes": must be true or false',
        ),
    ],
)
def test_a_stage_that_is_not_whole_is_refused(name: object, stages: object, line: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_stage(name, stages)
    assert str(refused.value) == line
