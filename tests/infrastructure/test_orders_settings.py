"""Each setting of orders that is refused, and the line that says so."""

import json
from typing import Any

import pytest

from orders import body
from stacks.longest_run import longest_run_seconds
from stacks.orders_definition import orders_definition
from stacks.settings import OrdersSettings
from stacks.settings.orders import MAX_ITEMS
from tests.infrastructure.refusals import nested, refusal, stage

AN_ADDRESS = "an https:// address without a password (http:// only to 127.0.0.1)"
AN_ISSUER = "an https:// address without query: an OpenID Connect issuer"
A_POOL = "the ARN of a Cognito user pool"
AN_AUDIENCE = "what tokens for this API have in `aud` or `client_id`"
IDENTITY_POOL = "arn:aws:cognito-identity:eu-central-1:123456789012:identitypool/eu-central-1:0"
POOL = "arn:aws:cognito-idp:eu-central-1:123456789012:userpool/eu-central-1_AbC123"
KEPT = "retry window + 14 days for redrives + 2 * workflow timeout, in days"
TASKS_KEPT = "workflow timeout + 14 days for redrives, in days"
LONGEST = 22_756  # seconds of the slowest path under the defaults

EDGE = ("accept_order", "order_status")
TASKS = ("begin_order", "charge_payment", "provision_item", "finish_order")


def settings(**given: Any) -> OrdersSettings:
    return stage("orders", given).orders


def api(authorization: str, **given: str) -> dict[str, Any]:
    return {"api": {"authorization": authorization, **given}}


def test_only_one_semantics_can_be_kept_and_the_line_says_why() -> None:
    assert refusal("orders", {"semantics": "at-most-once"}) == (
        'semantics = "at-most-once": must be idempotent-downstream: no record of a task outlives a call that '
        "raised, which is so made again"
    )


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("payment_url", "http://payments.test/charges", AN_ADDRESS),
        ("payment_url", "https://user:secret@payments.test/", AN_ADDRESS),
        ("payment_deadline_seconds", 0, "between 1 and 840"),
        ("payment_deadline_seconds", 841, "between 1 and 840"),
        ("provisioning_url", "", AN_ADDRESS),
        ("provisioning_deadline_seconds", 0, "between 1 and 840"),
        ("provisioning_deadline_seconds", 2.5, "a whole number"),
        ("retry_window_days", 0, "between 1 and 60"),
        ("retry_window_days", 61, "between 1 and 60"),
        ("retention_days", 90, "between 1 and 89"),  # Step Functions forgets names then
        ("task_retention_days", 3651, "between 1 and 3650"),
        ("api.authorization", "none", "iam or cognito or jwt"),
        ("api.rate_per_second", 0, "between 1 and 10000"),
        ("api.rate_per_second", 10_001, "between 1 and 10000"),
        ("api.burst", 0, "between 1 and 5000"),
        ("api.burst", 5001, "between 1 and 5000"),
        ("api.account_log_role", "yes", "true or false"),
        *((f"functions.{name}.timeout_seconds", 30, "between 1 and 29") for name in EDGE),
        *((f"functions.{name}.timeout_seconds", 841, "between 1 and 840") for name in (*TASKS, "reconciler")),
        *((f"functions.{name}.memory_mb", 127, "between 128 and 10240") for name in (*EDGE, *TASKS)),
        ("workflow.timeout_seconds", 43_201, "between 1 and 43200"),
        ("workflow.task_headroom_seconds", 4, "between 5 and 300"),
        ("workflow.retry_interval_seconds", 0, "between 1 and 3600"),
        ("workflow.retry_attempts", 0, "between 1 and 20"),
        ("workflow.retry_max_delay_seconds", 1, "between 2 and 3600"),
        ("workflow.in_progress_interval_seconds", 0, "between 1 and 3600"),
        ("workflow.provisioning_concurrency", 0, "between 1 and 40"),
        ("workflow.provisioning_concurrency", 41, "between 1 and 40"),
    ],
)
def test_a_value_that_is_wrong_by_itself_is_refused(setting: str, value: object, allowed: str) -> None:
    line = f"{setting} = {json.dumps(value)}: must be {allowed}"
    assert refusal("orders", nested(setting, value)) == line


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (api("cognito"), f'api.cognito_user_pool_arn = "": must be {A_POOL}'),
        (
            api("cognito", cognito_user_pool_arn=IDENTITY_POOL),
            f'api.cognito_user_pool_arn = "{IDENTITY_POOL}": must be {A_POOL}',
        ),
        (
            api("iam", cognito_user_pool_arn=POOL),
            f'api.cognito_user_pool_arn = "{POOL}": must be empty unless authorization is cognito',
        ),
        (api("jwt", jwt_audience="orders"), f'api.jwt_issuer = "": must be {AN_ISSUER}'),
        (
            api("jwt", jwt_audience="orders", jwt_issuer="http://127.0.0.1/"),
            f'api.jwt_issuer = "http://127.0.0.1/": must be {AN_ISSUER}',
        ),
        (
            api("jwt", jwt_audience="orders", jwt_issuer="https://issuer.test/?tenant=1"),
            f'api.jwt_issuer = "https://issuer.test/?tenant=1": must be {AN_ISSUER}',
        ),
        (api("jwt", jwt_issuer="https://issuer.test/"), f'api.jwt_audience = "": must be {AN_AUDIENCE}'),
        (
            api("iam", jwt_issuer="https://issuer.test/"),
            'api.jwt_issuer = "https://issuer.test/": must be empty unless authorization is jwt',
        ),
        (
            api("cognito", cognito_user_pool_arn=POOL, jwt_audience="orders"),
            'api.jwt_audience = "orders": must be empty unless authorization is jwt',
        ),
    ],
)
def test_each_way_to_tell_callers_apart_has_its_own_settings_and_no_others(
    given: dict[str, Any], line: str
) -> None:
    assert refusal("orders", given) == line


@pytest.mark.parametrize(
    "given",
    [
        api("cognito", cognito_user_pool_arn=POOL),
        api("cognito", cognito_user_pool_arn=POOL.replace("arn:aws:", "arn:aws-cn:")),
        api("jwt", jwt_issuer="https://issuer.test/tenant", jwt_audience="orders"),
    ],
)
def test_every_way_to_tell_callers_apart_can_be_set(given: dict[str, Any]) -> None:
    assert settings(**given).api.authorization == given["api"]["authorization"]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"retention_days": 21}, f"retention_days = 21: must be 22 or more: {KEPT}"),
        ({"retry_window_days": 26}, f"retention_days = 40: must be 41 or more: {KEPT}"),
        (
            {"retention_days": 22, "workflow": {"timeout_seconds": 43_200}, "retry_window_days": 8},
            f"retention_days = 22: must be 23 or more: {KEPT}",
        ),
        ({"task_retention_days": 14}, f"task_retention_days = 14: must be 15 or more: {TASKS_KEPT}"),
        (
            nested("functions.accept_order.timeout_seconds", 14),
            "functions.accept_order.timeout_seconds = 14: must be more than 14: 2 calls",
        ),
        *(
            (
                nested(f"functions.{name}.timeout_seconds", 7),
                f"functions.{name}.timeout_seconds = 7: must be more than 7: a call",
            )
            for name in ("order_status", "begin_order", "finish_order")
        ),
        (
            nested("functions.charge_payment.timeout_seconds", 48),
            "functions.charge_payment.timeout_seconds = 48: must be more than 48: 4 calls + payment deadline",
        ),
        (
            {"payment_deadline_seconds": 32},
            "functions.charge_payment.timeout_seconds = 60: must be more than 60: 4 calls + payment deadline",
        ),
        (
            nested("functions.provision_item.timeout_seconds", 48),
            (
                "functions.provision_item.timeout_seconds = 48: must be more than 48: "
                "4 calls + provisioning deadline"
            ),
        ),
        (
            {"provisioning_deadline_seconds": 32},
            (
                "functions.provision_item.timeout_seconds = 60: must be more than 60: "
                "4 calls + provisioning deadline"
            ),
        ),
        (
            nested("functions.reconciler.timeout_seconds", 84),
            "functions.reconciler.timeout_seconds = 84: must be more than 84: 12 calls",
        ),
        (
            nested("functions.reconciler.timeout_seconds", 300),
            "functions.reconciler.timeout_seconds = 300: must be 299 or less: runs must not overlap",
        ),
        (
            {"workflow": {"retry_interval_seconds": 60}},
            "workflow.retry_max_delay_seconds = 60: must be more than 60: retry_interval_seconds",
        ),
        (
            nested("workflow.timeout_seconds", LONGEST),
            (
                f"workflow.timeout_seconds = {LONGEST}: must be more than {LONGEST}: "
                "the slowest path through orders.asl.json"
            ),
        ),
    ],
)
def test_a_value_that_does_not_go_with_the_others_is_refused(given: dict[str, Any], line: str) -> None:
    """Each at the last value that is wrong."""
    assert refusal("orders", given) == line


@pytest.mark.parametrize(
    "given",
    [
        {"retention_days": 22},
        {"retry_window_days": 25},
        {"task_retention_days": 15},
        nested("functions.accept_order.timeout_seconds", 15),
        nested("functions.order_status.timeout_seconds", 8),
        {"payment_deadline_seconds": 31},
        {"provisioning_deadline_seconds": 31},
        nested("functions.reconciler.timeout_seconds", 299),
        nested("workflow.timeout_seconds", LONGEST + 1),
        {"retention_days": 89},
        nested("functions.accept_order.timeout_seconds", 29),
    ],
)
def test_the_next_value_is_accepted(given: dict[str, Any]) -> None:
    assert settings(**given)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"queue": {}}, "queue = {}: no such setting, "),
        ({"lease_seconds": 60}, "lease_seconds = 60: no such setting, "),
        ({"namespace": "orders"}, 'namespace = "orders": no such setting, '),
        (
            {"workflow": {"dead_letter_timeout_seconds": 9}},
            "workflow.dead_letter_timeout_seconds = 9: no such ",
        ),
    ],
)
def test_what_only_other_workloads_have_is_not_silently_without_effect(
    given: dict[str, Any], line: str
) -> None:
    assert refusal("orders", given).startswith(line)


@pytest.mark.parametrize(
    ("given", "looks"),
    [
        ({}, 3 * 5),  # 60 + 60 s, three times
        ({"workflow": {"in_progress_interval_seconds": 60}}, 3 * 3),
        ({"workflow": {"in_progress_interval_seconds": 61}}, 3 * 2),
        ({"workflow": {"lost_invocations": 1}}, 5),
        ({"margin_seconds": 89}, 3 * 5),
        ({"margin_seconds": 90}, 3 * 6),
        (nested("functions.charge_payment.timeout_seconds", 90), 3 * 6),
        (
            {
                "functions": {"provision_item": {"timeout_seconds": 90}},
                "workflow": {"timeout_seconds": 43_200},
            },
            3 * 6,
        ),
    ],
)
def test_a_task_is_looked_at_for_longer_than_lost_invocations_can_hold_it(
    given: dict[str, Any], looks: int
) -> None:
    found = settings(**given)
    held = found.longest_task_seconds + found.margin_seconds
    assert found.in_progress_attempts == looks
    interval = found.workflow.in_progress_interval_seconds
    each = looks // found.workflow.lost_invocations
    assert (each - 1) * interval <= held < each * interval


def test_no_execution_grows_too_long_to_be_redriven() -> None:
    """Step Functions takes no redrive from 24,999 events on."""
    short = {"workflow": {"in_progress_interval_seconds": 3, "timeout_seconds": 43_200}}
    line = refusal("orders", short)
    assert line.startswith("workflow.in_progress_interval_seconds = 3: must be longer: 24,999 events")


def test_the_slowest_order_has_as_many_items_as_are_taken() -> None:
    assert MAX_ITEMS == body.MAX_ITEMS
    assert longest_run_seconds(orders_definition(settings()), most_items=MAX_ITEMS) == LONGEST


def test_fewer_items_at_a_time_take_longer() -> None:
    line = refusal("orders", {"workflow": {"provisioning_concurrency": 5}})
    assert line.startswith("workflow.timeout_seconds = 28800: must be more than 4")
