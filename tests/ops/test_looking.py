"""status, stuck, show and dlq list: what an operator sees, in words and as JSON."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from idempotency.model import State
from tests.ops.conftest import Once
from tests.ops.deployed import LEASE, MARGIN, RETENTION, Deployed, charge_body, now, order_body

Told = Callable[..., Any]


def test_status_counts_what_waits_for_a_person_and_what_is_queued(deployed: Deployed, told: Told) -> None:
    for event, state in enumerate((State.FAILED, State.FAILED, State.IN_DOUBT, State.DONE)):
        deployed.record("charges", f"CHG-{event}", state)
    deployed.record("charges", "expired", State.FAILED, ago=RETENTION)
    deployed.bury("charges", charge_body("CHG-0"), reason="rejected")
    ingestion, charges = told("status")
    assert charges["records"] == {"FAILED": 2, "IN_DOUBT": 1, "RELEASED": 0}
    assert charges["dead_letters"]["waiting"] == 1
    assert "executions" not in charges
    assert ingestion["executions"] == {"RUNNING": 0, "FAILED": 0, "TIMED_OUT": 0, "ABORTED": 0}


def test_status_reads_no_whole_table_unless_asked(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.IN_PROGRESS)
    scans: list[str] = []
    deployed.client("dynamodb").meta.events.register(
        "before-call.dynamodb.Scan", lambda model, **_: scans.append(model.name)
    )
    told("status")
    told("stuck")
    assert scans == []
    _, charges = told("status", "--scan")
    assert charges["records"]["past their lease"] == 1
    assert scans


def test_stuck_names_doubts_and_with_a_scan_abandoned_claims(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.IN_DOUBT)
    deployed.record("charges", "CHG-2", State.IN_PROGRESS, ago=LEASE + MARGIN)
    deployed.record("charges", "CHG-3", State.IN_PROGRESS, ago=LEASE + MARGIN - 20)
    assert [row["key"] for row in told("stuck")] == ["charges/charge:CHG-1"]
    assert sorted(row["key"] for row in told("stuck", "--scan")) == [
        "charges/charge:CHG-1",
        "charges/charge:CHG-2",
    ]


def test_stuck_finds_what_an_execution_left_behind(deployed: Deployed, told: Told) -> None:
    stepfunctions = deployed.client("stepfunctions")
    started = stepfunctions.start_execution(
        stateMachineArn=deployed.outputs["dev-ingestion"]["StateMachineArn"],
        input=json.dumps({"businessKey": "orders:O-1", "namespace": "ingestion"}),
    )
    arn = started["executionArn"]
    stepfunctions.stop_execution(executionArn=arn)
    deployed.record("ingestion", "O-1", State.IN_PROGRESS, owner=arn)
    (row,) = told("stuck")
    assert (row["key"], row["owner"]) == ("ingestion/orders:O-1", arn)
    assert "ask the downstream" in row["in_words"]
    (story,) = told("show", "O-1")
    assert (story["execution"]["arn"], story["execution"]["status"]) == (arn, "ABORTED")


@pytest.mark.parametrize(
    ("state", "ago", "said"),
    [
        (State.IN_PROGRESS, 0, "nobody else may touch it for"),
        (State.IN_PROGRESS, 3_600, "Abandoned"),
        (State.DONE, 3_600, "Deliveries that still come are skipped"),
        (State.FAILED, 3_600, "certainly nothing happened"),
        (State.IN_DOUBT, 3_600, "it may have happened"),
        (State.RELEASED, 3_600, "its next delivery is tried"),
    ],
)
def test_show_says_in_words_what_became_of_an_event(
    deployed: Deployed, once: Once, state: State, ago: int, said: str
) -> None:
    deployed.record("charges", "CHG-1", state, ago=ago)
    deployed.bury("charges", charge_body("CHG-1"), reason="rejected")
    result = once("show", "CHG-1")
    assert result.exit_code == 0
    assert said in result.stdout
    assert "A copy is among the dead letters: rejected" in result.stdout


def test_show_tells_whom_an_operator_was(deployed: Deployed, once: Once) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    once("release", "CHG-1", "--reason", "[ticket] 42", "--yes")
    assert f"by {deployed.who}, because: [ticket] 42" in once("show", "CHG-1").stdout


def test_show_tells_each_delivery_from_the_logs(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.DONE)
    logs, group = deployed.client("logs"), "/aws/lambda/consumer"
    logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName="one")
    lines = [
        {"message": "done", "event_key": "charge:CHG-1", "message_id": "m-1", "status": "DEBITED"},
        {"message": "done", "event_key": "charge:CHG-10", "message_id": "m-2", "status": "DEBITED"},
        {"message": "already done", "event_key": "charge:CHG-1", "message_id": "m-3"},
    ]
    logs.put_log_events(
        logGroupName=group,
        logStreamName="one",
        logEvents=[
            {"timestamp": (now() - 60 + n) * 1000, "message": json.dumps(line)}
            for n, line in enumerate(lines)
        ],
    )
    (story,) = told("show", "CHG-1", "--logs", "1")
    assert [(line["message"], line["message_id"]) for line in story["logged"]] == [
        ("done", "m-1"),
        ("already done", "m-3"),
    ]
    (without,) = told("show", "CHG-1")
    assert "logged" not in without


def test_show_knows_a_copy_without_a_record(deployed: Deployed, told: Told) -> None:
    deployed.bury("ingestion", order_body("O-1"), reason="guard-failed")
    (story,) = told("show", "O-1")
    assert "never claimed" in story["in_words"]
    assert [copy["reason"] for copy in story["copies"]] == ["guard-failed"]


def test_dead_letters_are_grouped_by_reason_and_stay_where_they_are(deployed: Deployed, told: Told) -> None:
    for event in ("CHG-1", "CHG-2"):
        deployed.bury("charges", charge_body(event), reason="rejected", seen_ago=7_200)
    deployed.bury("charges", "no json", reason="invalid-json")
    deployed.bury("ingestion", order_body("O-1"), reason=None)
    for _ in range(2):
        groups = told("dlq", "list")
        assert [(group["stack"], group["reason"], group["copies"]) for group in groups] == [
            ("dev-ingestion", "receive-limit", 1),
            ("dev-charges", "rejected", 2),
            ("dev-charges", "invalid-json", 1),
        ]
    assert groups[1]["keys"] == ["charges/charge:CHG-1", "charges/charge:CHG-2"]
    assert now() - 7_260 < groups[1]["oldest_seen_at"] <= now() - 7_200


@pytest.mark.parametrize("words", [("status",), ("stuck", "--scan"), ("show", "CHG-1"), ("dlq", "list")])
def test_every_look_is_drawn_for_people_and_told_to_machines(
    deployed: Deployed, once: Once, words: tuple[str, ...]
) -> None:
    deployed.record("charges", "CHG-1", State.IN_DOUBT)
    deployed.bury("charges", charge_body("CHG-1"), reason="in-doubt")
    drawn = once(*words)
    assert (drawn.exit_code, drawn.stderr) == (0, "")
    assert "charge" in drawn.stdout
    assert json.loads(once(*words, "--json").stdout)


@pytest.mark.parametrize(("words", "said"), [(("stuck",), "Nothing is stuck"), (("dlq", "list"), "No dead")])
def test_nothing_is_said_to_be_nothing(
    deployed: Deployed, once: Once, words: tuple[str, ...], said: str
) -> None:
    assert said in once(*words).stdout
    assert json.loads(once(*words, "--json").stdout) == []
