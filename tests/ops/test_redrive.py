"""dlq redrive: what becomes of each copy, by the record of its event."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from idempotency.model import State
from tests.ops.conftest import Once
from tests.ops.deployed import LEASE, QUEUE_RETENTION, RETENTION, Deployed, charge_body, order_body

Told = Callable[..., Any]
QUEUE, DEAD = "QueueUrl", "DeadLetterQueueUrl"


def _redriven(told: Told, *words: str) -> dict[str | None, str]:
    answers = told("dlq", "redrive", *(words or ("--all",)), "--yes")
    return {answer["key"]: answer["action"] for answer in answers}


def test_what_failed_is_released_and_resent(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    deployed.bury("charges", charge_body("CHG-1"), reason="rejected")
    answers = _redriven(told, "--all", "--why", "the account is open again")
    assert answers == {"charges/charge:CHG-1": "release and resend"}
    assert (deployed.bodies("charges", QUEUE), deployed.bodies("charges", DEAD)) == (
        [charge_body("CHG-1")],
        [],
    )
    (entry,) = deployed.item("charges", "CHG-1")["audit"]["L"]
    assert entry["M"]["why"] == {"S": "the account is open again"}
    deployed.charges_run()
    assert (deployed.state("charges", "CHG-1"), deployed.bank.debits) == ("DONE", ["CHG-1"])


@pytest.mark.parametrize(
    ("workload", "state", "ago", "action"),
    [
        ("charges", State.IN_DOUBT, 3_600, "resend"),
        ("ingestion", State.IN_DOUBT, 3_600, "leave"),
        ("charges", State.IN_PROGRESS, 3_600, "resend"),
        ("ingestion", State.IN_PROGRESS, 3_600, "leave"),
        ("charges", State.IN_PROGRESS, LEASE, "leave"),
        ("ingestion", State.IN_PROGRESS, LEASE, "leave"),
        ("charges", State.RELEASED, 3_600, "resend"),
        ("ingestion", State.DONE, 3_600, "resend"),
        ("ingestion", State.FAILED, 3_600, "release and resend"),
        ("ingestion", None, 3_600, "resend"),
    ],
)
def test_a_copy_goes_where_its_record_says(
    deployed: Deployed, told: Told, workload: str, state: State | None, ago: int, action: str
) -> None:
    body = charge_body("E-1") if workload == "charges" else order_body("E-1")
    if state is not None:
        deployed.record(workload, "E-1", state, ago=ago)
    deployed.bury(workload, body, reason="guard-failed")
    assert list(_redriven(told).values()) == [action]
    (here, not_there) = (DEAD, QUEUE) if action == "leave" else (QUEUE, DEAD)
    assert (deployed.bodies(workload, here), deployed.bodies(workload, not_there)) == ([body], [])


def test_a_doubt_whose_record_is_gone_is_not_tried_again_by_itself(deployed: Deployed, told: Told) -> None:
    """As after the table was restored to an earlier time."""
    deployed.bury("ingestion", order_body("O-1"), reason="in-doubt")
    deployed.bury("charges", charge_body("CHG-1"), reason="in-doubt")
    assert _redriven(told) == {"ingestion/orders:O-1": "leave", "charges/charge:CHG-1": "resend"}
    assert _redriven(told, "--key", "O-1", "--force") == {"ingestion/orders:O-1": "resend"}


def test_what_is_left_is_named_and_visible_again(deployed: Deployed, once: Once) -> None:
    deployed.record("ingestion", "O-1", State.IN_DOUBT)
    deployed.bury("ingestion", order_body("O-1"), reason="in-doubt")
    for _ in range(2):
        result = once("dlq", "redrive", "--all", "--yes", "--workload", "ingestion")
        assert result.exit_code == 0
        assert "left ingestion/orders:O-1 (in-doubt): in doubt: find out" in result.stdout


def test_other_content_under_a_known_key_is_left(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    deployed.bury("charges", charge_body("CHG-1", amount="99"), reason="mismatch")
    assert _redriven(told) == {"charges/charge:CHG-1": "leave"}
    assert deployed.state("charges", "CHG-1") == "FAILED"


def test_other_content_goes_after_its_key_was_released_for_it(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    deployed.bury("charges", charge_body("CHG-1", amount="99"), reason="mismatch")
    told("release", "CHG-1", "--accept-new-content", "--reason", "corrected", "--yes")
    assert _redriven(told) == {"charges/charge:CHG-1": "resend"}


def test_what_was_given_up_for_other_content_does_not_become_the_event_after_all(
    deployed: Deployed, told: Told
) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    deployed.bury("charges", charge_body("CHG-1"), reason="rejected")
    deployed.bury("charges", charge_body("CHG-1", amount="99"), reason="mismatch")
    told("release", "CHG-1", "--accept-new-content", "--reason", "corrected", "--yes")
    answers = told("dlq", "redrive", "--all", "--yes")
    assert {each["reason"]: each["action"] for each in answers} == {"rejected": "leave", "mismatch": "resend"}
    assert deployed.bodies("charges", QUEUE) == [charge_body("CHG-1", amount="99")]


TOO_OLD = RETENTION - QUEUE_RETENTION


def test_what_is_older_than_retention_allows_is_refused_unless_forced(deployed: Deployed, told: Told) -> None:
    deployed.bury("charges", charge_body("CHG-1"), reason="not-applied", seen_ago=TOO_OLD)
    deployed.bury("charges", charge_body("CHG-2"), reason="not-applied", seen_ago=TOO_OLD - 60)
    assert _redriven(told) == {"charges/charge:CHG-1": "leave", "charges/charge:CHG-2": "resend"}
    assert _redriven(told, "--key", "CHG-1", "--force") == {"charges/charge:CHG-1": "resend"}


def test_a_copy_of_what_is_done_is_not_resent_when_its_record_is_about_to_go(
    deployed: Deployed, told: Told
) -> None:
    deployed.record("charges", "CHG-1", State.DONE, ago=TOO_OLD)
    deployed.bury("charges", charge_body("CHG-1"), reason="receive-limit")
    assert _redriven(told) == {"charges/charge:CHG-1": "leave"}


def test_a_copy_keeps_its_body_its_reason_and_when_it_was_first_seen(deployed: Deployed, told: Told) -> None:
    deployed.bury("charges", charge_body("CHG-1"), reason="not-applied", origin="batch 7")
    (before,) = deployed.waiting("charges", DEAD)
    told("dlq", "redrive", "--all", "--yes")
    (after,) = deployed.waiting("charges", QUEUE)
    assert after["body"] == before["body"]
    assert _texts(after) == _texts(before)
    assert set(_texts(after)) == {"reason", "firstSeenAt", "origin"}


def test_what_sqs_moved_gets_its_age_and_its_key_from_its_message(deployed: Deployed, told: Told) -> None:
    """A native redrive would lose both: the message is a new one on the work queue."""
    deployed.functions.environments["starter"]["MISSING_KEY"] = "message-id"
    deployed.bury("ingestion", "{}", reason=None)
    (answer,) = told("dlq", "redrive", "--all", "--yes")
    (after,) = deployed.waiting("ingestion", QUEUE)
    assert _texts(after)["eventKey"] == answer["message_id"]
    assert _texts(after)["firstSeenAt"].isdecimal()
    assert answer["key"] == f"ingestion/sqs:{answer['message_id']}"


def test_what_identifies_no_event_goes_with_all_or_its_reason_but_with_no_key(
    deployed: Deployed, told: Told
) -> None:
    deployed.bury("charges", "no json", reason="invalid-json")
    assert _redriven(told, "--key", "CHG-1") == {}
    assert _redriven(told, "--reason", "invalid-json") == {None: "resend"}


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (("--key", "CHG-1"), ["CHG-2", "CHG-3"]),
        (("--reason", "rejected"), ["CHG-3"]),
        (("--all",), []),
    ],
)
def test_only_what_is_chosen_is_touched(
    deployed: Deployed, told: Told, words: tuple[str, ...], left: list[str]
) -> None:
    for event, reason in (("CHG-1", "rejected"), ("CHG-2", "rejected"), ("CHG-3", "not-applied")):
        deployed.bury("charges", charge_body(event), reason=reason)
    _redriven(told, *words)
    assert [json.loads(body)["chargeId"] for body in deployed.bodies("charges", DEAD)] == left


def test_a_dry_run_says_what_would_be_done_and_changes_nothing(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    deployed.bury("charges", charge_body("CHG-1"), reason="rejected")
    for _ in range(2):
        (answer,) = told("dlq", "redrive", "--all", "--dry-run")
        assert answer["action"] == "release and resend"
    assert (deployed.state("charges", "CHG-1"), deployed.bodies("charges", QUEUE)) == ("FAILED", [])


def test_it_asks_before_it_acts(deployed: Deployed, once: Once) -> None:
    deployed.bury("charges", charge_body("CHG-1"), reason="not-applied")
    refused = once("dlq", "redrive", "--all", answer="n\n")
    assert (refused.exit_code, deployed.bodies("charges", QUEUE)) == (1, [])
    asked_by_a_machine = once("dlq", "redrive", "--all", "--json")
    assert (asked_by_a_machine.exit_code, asked_by_a_machine.stderr.count("\n")) == (1, 1)
    assert once("dlq", "redrive", "--all", answer="y\n").exit_code == 0
    assert deployed.bodies("charges", DEAD) == []


def test_what_fails_for_good_does_not_go_round_and_round(deployed: Deployed, once: Once) -> None:
    """The consumer is so quick that each copy is back before the redrive looks for the next."""
    deployed.bank.closed.add("CHG-1")
    deployed.record("charges", "CHG-1", State.FAILED)
    deployed.bury("charges", charge_body("CHG-1"), reason="rejected")

    def run_once(**_: Any) -> None:
        if not deployed.bank.calls:
            deployed.charges_run()

    deployed.client("sqs").meta.events.register("after-call.sqs.DeleteMessage", run_once)
    result = once("dlq", "redrive", "--all", "--yes")
    assert "it came back during this redrive" in result.stdout
    assert "sent back: 1 (records released: 1); left: 1" in result.stdout
    assert deployed.bank.calls == ["CHG-1"]
    assert (deployed.state("charges", "CHG-1"), len(deployed.bodies("charges", DEAD))) == ("FAILED", 1)


def test_what_was_done_is_said_when_the_rest_can_not_be_done(deployed: Deployed, once: Once) -> None:
    for event in ("CHG-1", "CHG-2"):
        deployed.bury("charges", charge_body(event), reason="not-applied")

    def unanswered(**_: Any) -> None:
        if len(deployed.bodies("charges", QUEUE)) == 2:
            raise ReadTimeoutError(endpoint_url="http://sqs")

    deployed.client("sqs").meta.events.register("after-call.sqs.SendMessage", unanswered)
    result = once("dlq", "redrive", "--all", "--yes", "--json")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert [answer["action"] for answer in json.loads(result.stdout)] == ["resend"]
    assert len(deployed.bodies("charges", DEAD)) == 1


def test_a_copy_that_the_work_queue_refuses_is_left_and_the_others_go(deployed: Deployed, told: Told) -> None:
    for event in ("CHG-1", "CHG-2"):
        deployed.bury("charges", charge_body(event), reason="not-applied")

    def refuse(params: dict[str, Any], **_: Any) -> None:
        if "CHG-1" in params["MessageBody"]:
            params["MessageBody"] = "x" * 2_000_000

    deployed.client("sqs").meta.events.register("before-parameter-build.sqs.SendMessage", refuse)
    assert _redriven(told) == {"charges/charge:CHG-1": "leave", "charges/charge:CHG-2": "resend"}


def _texts(message: dict[str, Any]) -> dict[str, str]:
    return {
        name: str(value.get("StringValue") or value.get("string_value"))
        for name, value in message["attributes"].items()
    }
