"""What holds for the settings of a stage and of each workload in it, and the lines that refuse the rest."""

import json
from dataclasses import replace
from typing import Any, get_args

import pytest

from stacks.refusal import Refusal
from stacks.settings import QueuedWorkloadSettings, Semantics, WorkloadSettings, read_stage
from stacks.settings.limits import LONGEST_LEASE_SECONDS
from stacks.settings.workload import DAY_SECONDS
from tests.infrastructure.refusals import NEEDED, nested, refusal, stage
from tests.infrastructure.synthesis import QUEUED, context

A_NAME = "1 to 64 of A-Z a-z 0-9 . _ -"

TOPIC = "arn:aws:sns:us-east-1:123456789012:on-call"

WRONG_ALARMS = [
    ({"topic_arn": "on-call"}, 'topic_arn = "on-call": must be an SNS topic\'s ARN or empty'),
    ({"topic_arn": f"{TOPIC}.fifo"}, f'topic_arn = "{TOPIC}.fifo": must be an SNS topic\'s ARN or empty'),
    ({"email": "on-call"}, 'email = "on-call": must be an e-mail address or empty'),
    (
        {"email": "on-call@services.test", "topic_arn": TOPIC},
        (
            'email = "on-call@services.test": must be empty where alarms.topic_arn is given: '
            "who is told is for that topic to say"
        ),
    ),
    ({"backlog_seconds": 59}, "backlog_seconds = 59: must be between 60 and 21600"),
    ({"client_errors": 0}, "client_errors = 0: must be between 1 and 1000000"),
    ({"emails": ""}, 'emails = "": no such setting, did you mean email?'),
]

EITHER = ("ingestion", "charges", "registrations")  # that claim in a ledger of ours, under either semantics

each_workload = pytest.mark.parametrize("workload", NEEDED)
each_that_claims = pytest.mark.parametrize("workload", EITHER)
each_on_a_queue = pytest.mark.parametrize("workload", QUEUED)


def settings_of(workload: str, **given: Any) -> WorkloadSettings:
    found: WorkloadSettings = getattr(stage(workload, given), workload)
    return found


def queued_settings_of(workload: str, **given: Any) -> QueuedWorkloadSettings:
    found = settings_of(workload, **given)
    assert isinstance(found, QueuedWorkloadSettings)
    return found


@each_that_claims
@pytest.mark.parametrize("semantics", get_args(Semantics))
def test_the_defaults_keep_every_rule_under_either_semantics(workload: str, semantics: str) -> None:
    assert settings_of(workload, semantics=semantics).semantics == semantics


def test_each_workload_has_the_semantics_that_suit_its_downstream() -> None:
    assert settings_of("ingestion").semantics == "at-most-once"
    assert settings_of("charges").semantics == "idempotent-downstream"
    assert settings_of("registrations").semantics == "idempotent-downstream"
    assert settings_of("orders").semantics == "idempotent-downstream"


@pytest.mark.parametrize("name", ["dev", "prod", "sandbox"])
def test_the_stages_of_cdk_json_keep_every_rule(name: str) -> None:
    assert read_stage(name, context()["stages"]).stage == name


@each_workload
def test_settings_are_frozen(workload: str) -> None:
    with pytest.raises(AttributeError):
        settings_of(workload).margin_seconds = 1  # type: ignore[misc]


def test_a_group_that_is_given_in_part_keeps_its_other_defaults() -> None:
    settings = stage("ingestion", {"sdk": {"attempts": 2}, "functions": {"starter": {"memory_mb": 512}}})
    sdk, functions = settings.ingestion.sdk, settings.ingestion.functions
    assert (sdk.attempts, sdk.read_timeout_seconds) == (2, 2.0)
    assert (functions.starter.memory_mb, functions.starter.timeout_seconds) == (512, 60)
    assert functions.reconciler.timeout_seconds == 240


@each_on_a_queue
def test_a_group_that_is_given_in_part_keeps_the_workloads_own_defaults(workload: str) -> None:
    before = queued_settings_of(workload).queue
    after = queued_settings_of(workload, queue={"max_receive_count": 7}).queue
    assert after == replace(before, max_receive_count=7)


@each_workload
def test_a_whole_number_may_stand_for_a_number(workload: str) -> None:
    assert settings_of(workload, sdk={"read_timeout_seconds": 1}).sdk.read_timeout_seconds == 1.0


def test_overrides_replace_what_cdk_json_gives_of_their_workload_alone() -> None:
    settings = read_stage(
        "dev",
        {"dev": NEEDED},
        overrides={
            "ingestion": {"effect_url": "http://127.0.0.1:1/", "namespace": "mine"},
            "charges": {"core_banking_url": "http://127.0.0.1:2/"},
        },
    )
    ingestion, charges, registrations = settings.ingestion, settings.charges, settings.registrations
    assert (ingestion.effect_url, ingestion.namespace) == ("http://127.0.0.1:1/", "mine")
    assert (charges.core_banking_url, charges.namespace) == ("http://127.0.0.1:2/", "charges")
    assert registrations == settings_of("registrations")


def test_an_override_of_a_workload_that_does_not_exist_is_refused() -> None:
    with pytest.raises(
        Refusal, match=r"^stages\.dev\.charge = \{\}: no such setting, did you mean charges\?$"
    ):
        read_stage("dev", {"dev": NEEDED}, overrides={"charge": {}})


@each_that_claims
@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("namespace", "", A_NAME),
        ("namespace", "a:b", A_NAME),
        ("lease_seconds", "5400", "a whole number"),
        ("lease_seconds", 0, "between 1 and 43200"),
        ("lease_seconds", 43_201, "between 1 and 43200"),
        ("retention_days", 3651, "between 1 and 3650"),
    ],
)
def test_a_value_of_the_claims_that_is_wrong_by_itself_is_refused(
    workload: str, setting: str, value: object, allowed: str
) -> None:
    line = f"{setting} = {json.dumps(value)}: must be {allowed}"
    assert refusal(workload, nested(setting, value)) == line


@each_workload
@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("semantics", "exactly-once", "at-most-once or idempotent-downstream"),
        ("margin_seconds", "60", "a whole number"),
        ("margin_seconds", True, "a whole number"),
        ("margin_seconds", 0, "between 1 and 3600"),
        ("margin_seconds", 3601, "between 1 and 3600"),
        ("sdk.connect_timeout_seconds", 0, "between 0.1 and 60"),
        ("sdk.read_timeout_seconds", "2", "a number"),
        ("sdk.read_timeout_seconds", 61, "between 0.1 and 60"),
        ("sdk.attempts", 0, "between 1 and 10"),
    ],
)
def test_a_value_that_is_wrong_by_itself_is_refused(
    workload: str, setting: str, value: object, allowed: str
) -> None:
    line = f"{setting} = {json.dumps(value)}: must be {allowed}"
    assert refusal(workload, nested(setting, value)) == line


@each_on_a_queue
@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("redrives", 0, "between 1 and 100"),
        ("queue.visibility_timeout_seconds", 43_201, "between 0 and 43200"),
        ("queue.retention_days", 15, "between 1 and 14"),
        ("queue.dead_letter_retention_days", 13, "between 14 and 14"),
        ("queue.max_receive_count", 4, "between 5 and 1000"),
        ("delivery.batch_size", 0, "between 1 and 10000"),
        ("delivery.batch_window_seconds", 301, "between 0 and 300"),
        ("delivery.max_concurrency", 1, "between 2 and 1000"),
    ],
)
def test_a_value_of_the_queue_that_is_wrong_by_itself_is_refused(
    workload: str, setting: str, value: object, allowed: str
) -> None:
    line = f"{setting} = {json.dumps(value)}: must be {allowed}"
    assert refusal(workload, nested(setting, value)) == line


@each_on_a_queue
@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"delivery": {"batch_size": 11}},
            "delivery.batch_window_seconds = 0: must be 1 or more: Lambda waits for batches over 10",
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
def test_a_value_that_does_not_go_with_the_others_is_refused(
    workload: str, given: dict[str, Any], line: str
) -> None:
    """Each at the last value that is wrong."""
    assert refusal(workload, given) == line


@each_on_a_queue
def test_fewer_redrives_need_a_shorter_retention(workload: str) -> None:
    assert settings_of(workload, redrives=1, retention_days=22).retention_seconds == 22 * DAY_SECONDS


def test_a_lease_always_ends_before_its_records_retention() -> None:
    """Retention is of whole days, so no rule needs to compare the two."""
    assert LONGEST_LEASE_SECONDS < DAY_SECONDS


@each_workload
@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"margin_second": 1}, "margin_second = 1: no such setting, did you mean margin_seconds?"),
        (
            {"sdk": {"tries": 1}},
            (
                "sdk.tries = 1: no such setting, known are connect_timeout_seconds, "
                "read_timeout_seconds, attempts"
            ),
        ),
        ({"sdk": 3}, "sdk = 3: must be an object of settings"),
    ],
)
def test_a_typing_error_is_not_silently_without_effect(
    workload: str, given: dict[str, Any], line: str
) -> None:
    assert refusal(workload, given) == line


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
        (
            "dev",
            {"dev": {"ingestion": NEEDED["ingestion"]}},
            "stages.dev.charges.core_banking_url is not given, and has no default",
        ),
        (
            "dev",
            {"dev": {**NEEDED, "charges": {"core_banking_url": "https://bank.test/"}}},
            "stages.dev.charges.notification_url is not given, and has no default",
        ),
        (
            "dev",
            {"dev": {name: given for name, given in NEEDED.items() if name != "registrations"}},
            "stages.dev.registrations.registry_url is not given, and has no default",
        ),
        (
            "dev",
            {"dev": {**NEEDED, "orders": {"provisioning_url": "https://provisioning.test/"}}},
            "stages.dev.orders.payment_url is not given, and has no default",
        ),
        ("dev", {"dev": {**NEEDED, "charges": 1}}, "stages.dev.charges = 1: must be an object of settings"),
        (
            "dev",
            {"dev": {**NEEDED, "charge": {}}},
            "stages.dev.charge = {}: no such setting, did you mean charges?",
        ),
        ("dev", {"dev": {"stage": "prod"}}, "stages.dev.stage = 'prod': the stage's name is its key"),
        (
            "dev",
            {"dev": {**NEEDED, "log_retention_days": 2}},
            (
                "stages.dev.log_retention_days = 2: must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, "
                "180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653"
            ),
        ),
        *(
            ("dev", {"dev": {**NEEDED, "alarms": alarms}}, f"stages.dev.alarms.{line}")
            for alarms, line in WRONG_ALARMS
        ),
        (
            "dev",
            {"dev": {**NEEDED, "deletion_protection": True}},
            (
                'stages.dev.removal = "destroy": must be retain where deletion_protection is true: '
                "a protected table is not deleted"
            ),
        ),
        (
            "dev",
            {"dev": {**NEEDED, "deletion_protection": "yes"}},
            'stages.dev.deletion_protection = "yes": must be true or false',
        ),
    ],
)
def test_a_stage_that_is_not_whole_is_refused(name: object, stages: object, line: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_stage(name, stages)
    assert str(refused.value) == line
