"""resolve and release: one write on exactly what was seen, with who, when and why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from idempotency.model import State, Verdict
from ops.audit import Entry
from ops.records import Records
from ops.release import released
from ops.resolve import resolved
from ops.trouble import Trouble
from tests.ops.conftest import Once
from tests.ops.deployed import LEASE, MARGIN, RETENTION, Deployed, charge_body, now

Told = Callable[..., Any]


def _claim(deployed: Deployed, workload: str, event: str, **given: Any) -> Any:
    claim = {"owner": "two", "now": now(), "lease": LEASE, "retention": RETENTION, **given}
    return deployed.ledger(workload).claim(deployed.key(workload, event), **claim)


@pytest.mark.parametrize("key", ["O-1", "orders:O-1", "ingestion/orders:O-1"])
def test_what_happened_is_done_and_its_copies_are_skipped(deployed: Deployed, told: Told, key: str) -> None:
    deployed.record("ingestion", "O-1", State.IN_DOUBT)
    (answer,) = told("resolve", key, "--applied", "--reason", "the bank says so", "--yes")
    assert (answer["was"], answer["is"]) == ("IN_DOUBT", "DONE")
    assert "attention" not in deployed.item("ingestion", "O-1")
    assert _claim(deployed, "ingestion", "O-1").verdict is Verdict.DONE


def test_what_did_not_happen_is_claimed_anew_without_a_doubt(deployed: Deployed, told: Told) -> None:
    deployed.record("ingestion", "O-1", State.IN_DOUBT)
    told("resolve", "O-1", "--not-applied", "--reason", "the bank knows nothing", "--yes")
    item = deployed.item("ingestion", "O-1")
    assert item["attention"]["S"].startswith("RELEASED#")
    assert now() + RETENTION - 5 <= int(item["expiresAt"]["N"]) <= now() + RETENTION
    claim = _claim(deployed, "ingestion", "O-1")
    assert (claim.verdict, claim.record.attempt, claim.record.unknown) == (Verdict.ACQUIRED, 2, False)


@pytest.mark.parametrize(("applied", "unknown"), [("--applied", True), ("--not-applied", False)])
def test_that_it_did_not_happen_is_said_of_earlier_tries_too(
    deployed: Deployed, told: Told, applied: str, *, unknown: bool
) -> None:
    deployed.record("charges", "CHG-1", State.IN_PROGRESS, ago=7_200)
    doubted = deployed.record("charges", "CHG-1", State.IN_DOUBT, owner="two")
    assert doubted.unknown
    told("resolve", "CHG-1", applied, "--reason", "seen", "--yes")
    item = deployed.item("charges", "CHG-1")
    assert item["unknown"]["BOOL"] is unknown
    assert item.get("unsettled") == (None if unknown else {"BOOL": False})


@pytest.mark.parametrize(("applied", "state"), [("--applied", "DONE"), ("--not-applied", "RELEASED")])
def test_an_abandoned_claim_can_be_resolved(deployed: Deployed, told: Told, applied: str, state: str) -> None:
    deployed.record("ingestion", "O-1", State.IN_PROGRESS, ago=LEASE + MARGIN)
    told("resolve", "O-1", applied, "--reason", "seen", "--yes")
    assert deployed.state("ingestion", "O-1") == state


@pytest.mark.parametrize("applied", ["--applied", "--not-applied"])
def test_a_live_lease_refuses(deployed: Deployed, once: Once, applied: str) -> None:
    deployed.record("ingestion", "O-1", State.IN_PROGRESS, ago=LEASE)  # its margin still runs
    result = once("resolve", "O-1", applied, "--reason", "impatient", "--yes")
    assert result.exit_code == 1
    assert "being worked on" in result.stderr
    assert deployed.state("ingestion", "O-1") == "IN_PROGRESS"


def test_a_doubt_whose_worker_may_still_be_at_it_may_be_done_but_not_undone(
    deployed: Deployed, once: Once
) -> None:
    deployed.record("ingestion", "O-1", State.IN_DOUBT, ago=0)
    result = once("resolve", "O-1", "--not-applied", "--reason", "impatient", "--yes")
    assert (result.exit_code, deployed.state("ingestion", "O-1")) == (1, "IN_DOUBT")
    assert once("resolve", "O-1", "--applied", "--reason", "seen", "--yes").exit_code == 0


def test_what_failed_is_released_and_taken_by_its_next_delivery(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    told("release", "CHG-1", "--reason", "the account is open again", "--yes")
    assert deployed.item("charges", "CHG-1")["attention"]["S"].startswith("RELEASED#")
    assert _claim(deployed, "charges", "CHG-1", fingerprint="other").verdict is Verdict.MISMATCH
    assert _claim(deployed, "charges", "CHG-1").verdict is Verdict.ACQUIRED


def test_new_content_is_accepted_where_it_is_said(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    told("release", "CHG-1", "--reason", "the amount was wrong", "--accept-new-content", "--yes")
    assert _claim(deployed, "charges", "CHG-1", fingerprint="other").verdict is Verdict.ACQUIRED


def test_every_change_leaves_who_when_what_and_why(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    told("release", "CHG-1", "--reason", "first", "--yes")
    deployed.record("charges", "CHG-1", State.IN_DOUBT)
    told("resolve", "CHG-1", "--applied", "--reason", "second", "--yes")
    (story,) = told("show", "CHG-1")
    assert [entry["why"] for entry in story["audit"]] == ["first", "second"]
    assert [entry["what"] for entry in story["audit"]] == [
        "released: FAILED to RELEASED",
        "resolved as applied: IN_DOUBT to DONE",
    ]
    assert {entry["who"] for entry in story["audit"]} == {deployed.who}
    assert all(now() - 60 <= entry["at"] <= now() for entry in story["audit"])


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.DONE, ["release"]),
        (State.IN_DOUBT, ["release"]),
        (State.IN_PROGRESS, ["release"]),
        (State.RELEASED, ["release"]),
        (State.DONE, ["resolve", "--applied"]),
        (State.FAILED, ["resolve", "--applied"]),
        (State.RELEASED, ["resolve", "--not-applied"]),
    ],
)
def test_a_step_that_the_contract_does_not_have_is_refused_in_one_line(
    deployed: Deployed, once: Once, state: State, words: list[str]
) -> None:
    deployed.record("charges", "CHG-1", state)
    before = deployed.item("charges", "CHG-1")
    result = once(*words, "CHG-1", "--reason", "why not", "--yes")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert deployed.item("charges", "CHG-1") == before


def test_nothing_is_done_unless_the_operator_agrees(deployed: Deployed, once: Once) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    refused = once("release", "CHG-1", "--reason", "hm", answer="n\n")
    assert (refused.exit_code, deployed.state("charges", "CHG-1")) == (1, "FAILED")
    assert "nothing was done" in refused.stderr
    agreed = once("release", "CHG-1", "--reason", "hm", answer="y\n")
    assert (agreed.exit_code, deployed.state("charges", "CHG-1")) == (0, "RELEASED")


def test_many_are_resolved_by_file_by_reason_code_and_by_age(
    deployed: Deployed, told: Told, tmp_path: Path
) -> None:
    for event in ("O-1", "O-2", "O-3", "O-4"):
        deployed.record("ingestion", event, State.IN_DOUBT, ago=7_200 if event == "O-4" else 3_600)
    listed = tmp_path / "keys"
    listed.write_text("# from the bank\nO-1\n\nO-2\n")
    assert len(told("resolve", "--applied", "--file", str(listed), "--reason", "list", "--yes")) == 2
    (old,) = told("resolve", "--applied", "--older-than", "90", "--reason", "old", "--yes")
    assert old["key"] == "ingestion/orders:O-4"
    (rest,) = told("resolve", "--not-applied", "--reason-code", "in-doubt", "--reason", "rest", "--yes")
    assert rest["key"] == "ingestion/orders:O-3"


def test_of_many_those_that_can_not_be_resolved_are_left_and_named(deployed: Deployed, once: Once) -> None:
    deployed.record("ingestion", "O-1", State.IN_DOUBT)
    deployed.record("ingestion", "O-2", State.IN_PROGRESS, ago=0)
    result = once("resolve", "O-2", "O-1", "--applied", "--reason", "both", "--yes")
    assert result.exit_code == 1
    assert "O-2 is being worked on" in result.stdout
    assert (deployed.state("ingestion", "O-1"), deployed.state("ingestion", "O-2")) == ("DONE", "IN_PROGRESS")


def test_a_key_of_two_stacks_has_to_be_told_apart(deployed: Deployed, once: Once) -> None:
    deployed.outputs["dev-ingestion-2"] = deployed.outputs["dev-ingestion"]
    deployed.record("ingestion", "O-1", State.FAILED)
    result = once("release", "O-1", "--reason", "which", "--yes")
    assert "choose with --stack" in result.stderr
    chosen = once("release", "O-1", "--reason", "this", "--yes", "--stack", "dev-ingestion-2")
    assert chosen.exit_code == 0


class _Write:
    """An operator's release of a FAILED record, ready to be made."""

    def __init__(self, deployed: Deployed) -> None:
        self.seen = deployed.record("charges", "CHG-1", State.FAILED)
        self.records = Records(deployed.client("dynamodb"), "charges-ledger")
        self.entry = Entry.of(at=now(), who="me", what="released", why="test")

    def make(self) -> None:
        wanted = released(self.seen, now=now(), retention=RETENTION)
        self.records.change(self.seen, wanted, self.entry)


@pytest.fixture
def write(deployed: Deployed) -> _Write:
    return _Write(deployed)


def test_a_record_that_has_moved_on_since_it_was_seen_is_left_alone(
    deployed: Deployed, write: _Write
) -> None:
    write.make()
    claimed = _claim(deployed, "charges", "CHG-1")
    assert claimed.verdict is Verdict.ACQUIRED
    write.entry = Entry.of(at=now(), who="another", what="released", why="late")
    with pytest.raises(Trouble, match="changed meanwhile"):
        write.make()
    assert deployed.ledger("charges").read(claimed.record.key) == claimed.record


@pytest.mark.parametrize("claimed_meanwhile", [False, True])
def test_a_write_whose_answer_was_lost_knows_itself(
    deployed: Deployed, write: _Write, *, claimed_meanwhile: bool
) -> None:
    write.make()
    if claimed_meanwhile:
        _claim(deployed, "charges", "CHG-1")
    write.make()  # as the SDK sends it again
    assert len(deployed.item("charges", "CHG-1")["audit"]["L"]) == 1


def test_a_claim_that_was_renewed_in_the_second_in_which_it_was_seen_is_not_resolved(
    deployed: Deployed,
) -> None:
    seen = deployed.record("charges", "CHG-1", State.IN_PROGRESS, ago=LEASE + MARGIN)
    deployed.ledger("charges").renew(
        seen.key, owner="one", attempt=1, now=seen.updated_at, lease=LEASE + 1_000
    )
    wanted = resolved(seen, applied=False, now=now(), margin=MARGIN, retention=RETENTION)
    records = Records(deployed.client("dynamodb"), "charges-ledger")
    with pytest.raises(Trouble, match="changed meanwhile"):
        records.change(seen, wanted, Entry.of(at=now(), who="me", what="resolved", why="test"))


def test_a_record_with_an_audit_trail_goes_through_its_whole_life_again(
    deployed: Deployed, told: Told
) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    told("release", "CHG-1", "--reason", "once more", "--yes")
    deployed.client("sqs").send_message(
        QueueUrl=deployed.outputs["dev-charges"]["QueueUrl"], MessageBody=charge_body("CHG-1")
    )
    deployed.charges_run()
    assert (deployed.state("charges", "CHG-1"), deployed.bank.debits) == ("DONE", ["CHG-1"])
    (story,) = told("show", "CHG-1")
    assert [entry["why"] for entry in story["audit"]] == ["once more"]
