"""Each setting of charges that is refused, and the line that says so."""

import json
from typing import Any

import pytest

from tests.infrastructure.refusals import nested, refusal, stage

AN_ADDRESS = "an https:// address without a password (http:// only to 127.0.0.1)"
CONSUMER = "functions.consumer.timeout_seconds"
PER_RECORD = "6 calls + both deadlines per record, batch / concurrency in a row"


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("core_banking_url", "http://bank.test/debits", AN_ADDRESS),
        ("core_banking_url", "https://user:secret@bank.test/debits", AN_ADDRESS),
        ("core_banking_deadline_seconds", 0, "between 1 and 840"),
        ("core_banking_deadline_seconds", 841, "between 1 and 840"),
        ("core_banking_deadline_seconds", 2.5, "a whole number"),
        ("notification_url", "http://notifications.test/", AN_ADDRESS),
        ("notification_url", "", AN_ADDRESS),
        ("notification_deadline_seconds", 0, "between 1 and 840"),
        ("notification_deadline_seconds", 841, "between 1 and 840"),
        ("delivery.concurrency", 0, "between 1 and 50"),
        ("delivery.concurrency", 51, "between 1 and 50"),
        (CONSUMER, 0, "between 1 and 840"),
        (CONSUMER, 841, "between 1 and 840"),
        ("functions.consumer.memory_mb", 64, "between 128 and 10240"),
        ("functions.consumer.memory_mb", 10_241, "between 128 and 10240"),
    ],
)
def test_a_value_that_is_wrong_by_itself_is_refused(setting: str, value: object, allowed: str) -> None:
    line = f"{setting} = {json.dumps(value)}: must be {allowed}"
    assert refusal("charges", nested(setting, value)) == line


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"queue": {"visibility_timeout_seconds": 719}},
            (
                "queue.visibility_timeout_seconds = 719: must be 720 or more: "
                "6 times the consumer's timeout + batch window"
            ),
        ),
        (
            {"delivery": {"batch_window_seconds": 1}},
            (
                "queue.visibility_timeout_seconds = 720: must be 721 or more: "
                "6 times the consumer's timeout + batch window"
            ),
        ),
        (nested(CONSUMER, 102), f"{CONSUMER} = 102: must be more than 102: {PER_RECORD}"),
        ({"delivery": {"concurrency": 9}}, f"{CONSUMER} = 120: must be more than 204: {PER_RECORD}"),
        ({"core_banking_deadline_seconds": 38}, f"{CONSUMER} = 120: must be more than 120: {PER_RECORD}"),
        ({"notification_deadline_seconds": 28}, f"{CONSUMER} = 120: must be more than 120: {PER_RECORD}"),
        ({"sdk": {"read_timeout_seconds": 3}}, f"{CONSUMER} = 120: must be more than 120: {PER_RECORD}"),
        (
            {"lease_seconds": 180},
            "lease_seconds = 180: must be more than 180: the consumer's timeout + margin",
        ),
        (
            {"margin_seconds": 120},
            "lease_seconds = 240: must be more than 240: the consumer's timeout + margin",
        ),
    ],
)
def test_a_value_that_does_not_go_with_the_others_is_refused(given: dict[str, Any], line: str) -> None:
    """Each at the last value that is wrong."""
    assert refusal("charges", given) == line


@pytest.mark.parametrize(
    "given",
    [
        {"delivery": {"batch_window_seconds": 1}, "queue": {"visibility_timeout_seconds": 721}},
        nested(CONSUMER, 103),
        {"delivery": {"batch_size": 9, "concurrency": 9}},
        {"core_banking_deadline_seconds": 37},
        {"notification_deadline_seconds": 27},
        {"lease_seconds": 181},
        {"margin_seconds": 119},
    ],
)
def test_the_next_value_is_accepted(given: dict[str, Any]) -> None:
    assert stage("charges", given)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"effect_url": "https://a.test/"}, 'effect_url = "https://a.test/": no such setting, known are '),
        ({"bank_url": "https://a.test/"}, 'bank_url = "https://a.test/": no such setting, '),
        ({"delivery": {"starter_concurrency": 5}}, "delivery.starter_concurrency = 5: no such setting, "),
        ({"functions": {"starter": {}}}, "functions.starter = {}: no such setting, known are consumer"),
        ({"workflow": {}}, "workflow = {}: no such setting, "),
    ],
)
def test_what_only_ingestion_has_is_not_silently_without_effect(given: dict[str, Any], line: str) -> None:
    assert refusal("charges", given).startswith(line)


@pytest.mark.parametrize(("batch_size", "concurrency"), [(10, 10), (10, 5), (1, 50)])
def test_a_record_is_begun_only_with_all_the_time_that_it_may_take(batch_size: int, concurrency: int) -> None:
    given = {
        "delivery": {"batch_size": batch_size, "concurrency": concurrency},
        "functions": {"consumer": {"timeout_seconds": 240}},
        "queue": {"visibility_timeout_seconds": 1440},
        "lease_seconds": 301,
    }
    assert stage("charges", given).charges.record_seconds == 6 * 12 + 20 + 10
