"""Each setting of registrations that is refused, and the line that says so."""

import json
from typing import Any

import pytest

from tests.infrastructure.refusals import nested, refusal, stage

A_NAME = "1 to 64 of A-Z a-z 0-9 . _ -"
A_SOURCE = f"{A_NAME} and not aws.…, which are AWS's own"
A_KEY = "1 to 256 of A-Z a-z 0-9 . _ / -"
AN_ADDRESS = "an https:// address without a password (http:// only to 127.0.0.1)"
PROCESSOR = "functions.processor.timeout_seconds"
SWEEPER = "functions.sweeper.timeout_seconds"
PER_RECORD = "a call, then 9 calls + both deadlines + 45 s of patience"
LAST_LOOK = "lookback_days + 1, so that sweeping never revives old work"
LIVES = "the processor's timeout + the sweeper's, so that nobody acts on a listing from before a sweep"
QUICK = {"sdk": {"attempts": 1}}


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("registry_url", "http://registry.test/expiries", AN_ADDRESS),
        ("registry_url", "https://user:secret@registry.test/", AN_ADDRESS),
        ("registry_deadline_seconds", 0, "between 1 and 840"),
        ("registry_deadline_seconds", 841, "between 1 and 840"),
        ("registry_deadline_seconds", 2.5, "a whole number"),
        ("notification_url", "http://notifications.test/", AN_ADDRESS),
        ("notification_url", "", AN_ADDRESS),
        ("notification_deadline_seconds", 0, "between 1 and 840"),
        ("notification_deadline_seconds", 841, "between 1 and 840"),
        ("lookback_days", 0, "between 1 and 3649"),
        ("lookback_days", 3650, "between 1 and 3649"),
        ("event_source", "aws.events", A_SOURCE),
        ("event_source", "a:b", A_SOURCE),
        ("event_source", "", A_SOURCE),
        ("source_key", "", A_KEY),
        ("source_key", "due/*", A_KEY),
        ("source_key", "due?.json", A_KEY),
        ("source_key", "k" * 257, A_KEY),
        ("interval_minutes", 0, "between 1 and 720"),
        ("interval_minutes", 721, "between 1 and 720"),
        ("sweep_interval_minutes", 0, "between 1 and 720"),
        ("sweep_interval_minutes", 721, "between 1 and 720"),
        ("staleness_seconds", 86_401, "between 1 and 86400"),
        ("parameter_share", 1, "between 2 and 10000"),
        ("parameter_share", 10_001, "between 2 and 10000"),
        ("concurrency", 0, "between 1 and 50"),
        ("concurrency", 51, "between 1 and 50"),
        (PROCESSOR, 0, "between 1 and 840"),
        (PROCESSOR, 841, "between 1 and 840"),
        ("functions.processor.memory_mb", 64, "between 128 and 10240"),
        (SWEEPER, 0, "between 1 and 840"),
        (SWEEPER, 841, "between 1 and 840"),
        ("functions.sweeper.memory_mb", 10_241, "between 128 and 10240"),
    ],
)
def test_a_value_that_is_wrong_by_itself_is_refused(setting: str, value: object, allowed: str) -> None:
    line = f"{setting} = {json.dumps(value)}: must be {allowed}"
    assert refusal("registrations", nested(setting, value)) == line


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"retention_days": 30},
            f"retention_days = 30: must be 31 or more: {LAST_LOOK}",
        ),
        (
            {"lookback_days": 31},
            f"retention_days = 31: must be 32 or more: {LAST_LOOK}",
        ),
        (nested(PROCESSOR, 195), f"{PROCESSOR} = 195: must be more than 195: {PER_RECORD}"),
        ({"registry_deadline_seconds": 425}, f"{PROCESSOR} = 600: must be more than 600: {PER_RECORD}"),
        ({"notification_deadline_seconds": 415}, f"{PROCESSOR} = 600: must be more than 600: {PER_RECORD}"),
        (
            {"lease_seconds": 660},
            "lease_seconds = 660: must be more than 660: the processor's timeout + margin",
        ),
        (
            {"margin_seconds": 300},
            "lease_seconds = 900: must be more than 900: the processor's timeout + margin",
        ),
        (nested(SWEEPER, 64), f"{SWEEPER} = 64: must be more than 64: 2 calls, each with 20 s of patience"),
        ({"sweep_interval_minutes": 10}, f"{SWEEPER} = 600: must be 599 or less: runs must not overlap"),
    ],
)
def test_a_value_that_does_not_go_with_the_others_is_refused(given: dict[str, Any], line: str) -> None:
    """Each at the last value that is wrong."""
    assert refusal("registrations", given) == line


@pytest.mark.parametrize(
    "given",
    [
        {"lookback_days": 1, "retention_days": 2},
        {"event_source": "awsome.registry", "source_key": "due/2026-03.json"},
        {"interval_minutes": 720, "sweep_interval_minutes": 720},
        {"parameter_share": 10_000},
        nested(PROCESSOR, 196),
        {"registry_deadline_seconds": 424},
        {"notification_deadline_seconds": 414},
        {"lease_seconds": 661},
        {"margin_seconds": 299},
        nested(SWEEPER, 65),
        {"sweep_interval_minutes": 11},
        {"staleness_seconds": 3600},
    ],
)
def test_the_next_value_is_accepted(given: dict[str, Any]) -> None:
    assert stage("registrations", given)


def test_a_listing_is_not_taken_for_fresher_than_an_hour() -> None:
    line = refusal("registrations", {"staleness_seconds": 3599})
    assert line.startswith("staleness_seconds = 3599: must be 3600 or more: ")


@pytest.mark.parametrize("sweeper", [600, 601])
def test_in_the_sandbox_it_is_older_than_any_function_lives(sweeper: int) -> None:
    lives = 600 + sweeper
    line = refusal(
        "registrations", {"staleness_seconds": lives, **nested(SWEEPER, sweeper)}, bootstrapless=True
    )
    assert line == f"staleness_seconds = {lives}: must be more than {lives}: {LIVES}"
    given = {"staleness_seconds": lives + 1, **nested(SWEEPER, sweeper)}
    assert stage("registrations", given, bootstrapless=True)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"queue": {}}, "queue = {}: no such setting, "),
        ({"redrives": 2}, "redrives = 2: no such setting, "),
        ({"delivery": {"batch_size": 1}}, 'delivery = {"batch_size": 1}: no such setting, '),
        ({"core_banking_url": "https://a.test/"}, 'core_banking_url = "https://a.test/": no such setting, '),
        ({"functions": {"consumer": {}}}, "functions.consumer = {}: no such setting, known are processor"),
    ],
)
def test_what_only_workloads_on_a_queue_have_is_not_silently_without_effect(
    given: dict[str, Any], line: str
) -> None:
    assert refusal("registrations", given).startswith(line)


def test_a_registration_is_begun_only_with_all_the_time_that_it_may_take() -> None:
    """Calls that all time out, a mark that waits for its name to rest, both downstreams at their slowest."""
    assert stage("registrations", {}).registrations.record_seconds == 9 * 12 + 45 + 20 + 10
    assert stage("registrations", QUICK).registrations.record_seconds == 9 * 3 + 45 + 20 + 10
