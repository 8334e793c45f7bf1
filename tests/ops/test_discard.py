"""dlq discard: a deliberate end, of what is accounted for and of nothing else."""

from collections.abc import Callable
from typing import Any

import pytest

from idempotency.model import State
from tests.ops.conftest import Once
from tests.ops.deployed import Deployed, charge_body, order_body

Told = Callable[..., Any]
DEAD = "DeadLetterQueueUrl"


@pytest.mark.parametrize("state", [State.FAILED, State.DONE])
def test_copies_of_a_settled_event_go_and_its_record_tells_why(
    deployed: Deployed, told: Told, state: State
) -> None:
    record = deployed.record("charges", "CHG-1", state)
    for _ in range(2):
        deployed.bury("charges", charge_body("CHG-1"), reason="rejected")
    deployed.bury("charges", charge_body("CHG-2"), reason="rejected")
    answers = told("dlq", "discard", "--key", "CHG-1", "--reason", "the customer has left", "--yes")
    assert [(answer["action"], answer["body"]) for answer in answers] == [
        ("discard", charge_body("CHG-1"))
    ] * 2
    assert deployed.bodies("charges", DEAD) == [charge_body("CHG-2")]
    trail = deployed.item("charges", "CHG-1")["audit"]["L"]
    assert [entry["M"]["why"]["S"] for entry in trail] == ["the customer has left"] * 2
    after = deployed.ledger("charges").read(record.key)
    assert after is not None
    assert (after.state, after.reason, after.expires_at) == (state, record.reason, record.expires_at)


@pytest.mark.parametrize("state", [State.IN_DOUBT, State.RELEASED, State.IN_PROGRESS, None])
def test_the_copy_of_an_event_that_is_not_settled_stays(
    deployed: Deployed, told: Told, state: State | None
) -> None:
    if state is not None:
        deployed.record("charges", "CHG-1", state)
    deployed.bury("charges", charge_body("CHG-1"), reason="not-applied")
    (answer,) = told("dlq", "discard", "--key", "CHG-1", "--reason", "tired of it", "--yes")
    assert answer["action"] == "leave"
    assert deployed.bodies("charges", DEAD) == [charge_body("CHG-1")]


def test_a_doubt_whose_record_is_gone_ends_where_an_operator_says_that_it_happened(
    deployed: Deployed, told: Told
) -> None:
    deployed.bury("ingestion", order_body("O-1"), reason="in-doubt")
    (answer,) = told("dlq", "discard", "--key", "O-1", "--reason", "in the bank's books", "--yes")
    assert (answer["action"], deployed.bodies("ingestion", DEAD)) == ("discard", [])


def test_other_content_under_a_known_key_goes(deployed: Deployed, told: Told) -> None:
    deployed.record("charges", "CHG-1", State.DONE)
    deployed.bury("charges", charge_body("CHG-1", amount="99"), reason="mismatch")
    told("dlq", "discard", "--key", "CHG-1", "--reason", "a slip of the producer", "--yes")
    assert deployed.bodies("charges", DEAD) == []


def test_what_identifies_no_event_goes_by_its_message_and_its_body_is_shown(
    deployed: Deployed, told: Told, once: Once
) -> None:
    deployed.bury("charges", "no [red]json", reason="invalid-json")
    (group,) = told("dlq", "list")
    message = group["keys"][0].rpartition(" ")[2]
    looked = once("dlq", "discard", "--message", message, "--reason", "noise", "--dry-run")
    assert "to be discarded: 1" in looked.stdout
    assert deployed.bodies("charges", DEAD) == ["no [red]json"]
    result = once("dlq", "discard", "--message", message, "--reason", "noise", "--yes")
    assert "no [red]json" in result.stdout
    assert deployed.bodies("charges", DEAD) == []


def test_what_was_released_of_a_registration_needs_its_copy_no_more(deployed: Deployed, told: Told) -> None:
    ledger = deployed.add_registrations()
    key = deployed.registration_key("R-1")
    ledger.claim(key, owner="one", now=1, lease=1, retention=10**10)
    ledger.release(key, owner="one", attempt=1, now=1, retention=10**10, reason="not-applied")
    deployed.bury("registrations", "{}", reason="in-doubt", eventKey=key.pk)
    (answer,) = told("dlq", "discard", "--key", key.pk, "--reason", "resolved", "--yes")
    assert answer["action"] == "discard"
    assert deployed.bodies("registrations", DEAD) == []


def test_a_registration_that_failed_is_not_reported_once_more(deployed: Deployed, told: Told) -> None:
    ledger = deployed.add_registrations()
    key = deployed.registration_key("R-1")
    ledger.claim(key, owner="one", now=1, lease=1, retention=10**10)
    failed = ledger.fail(key, owner="one", attempt=1, now=1, retention=10**10, reason="rejected")
    ledger.report(failed, now=1)
    deployed.bury("registrations", "{}", reason="rejected", eventKey=key.pk)
    told("dlq", "discard", "--key", key.pk, "--reason", "it may stay", "--yes")
    assert (ledger.unreported(key), ledger.reported(key)) == (None, True)


def test_a_record_that_changes_meanwhile_keeps_the_copy(deployed: Deployed, told: Told) -> None:
    record = deployed.record("charges", "CHG-1", State.FAILED)
    deployed.bury("charges", charge_body("CHG-1"), reason="rejected")

    def released(**_: Any) -> None:
        deployed.client("dynamodb").meta.events.unregister("after-call.dynamodb.GetItem", released)
        told("release", "CHG-1", "--reason", "somebody else", "--yes")

    deployed.client("dynamodb").meta.events.register("after-call.dynamodb.GetItem", released)
    (answer,) = told("dlq", "discard", "--key", "CHG-1", "--reason", "too late", "--yes")
    assert (answer["action"], "changed meanwhile" in answer["why"]) == ("leave", True)
    assert deployed.bodies("charges", DEAD) == [charge_body("CHG-1")]
    assert deployed.state("charges", record.key.pk.partition(":")[2]) == "RELEASED"


def test_it_asks_and_wants_to_know_why(deployed: Deployed, once: Once) -> None:
    deployed.record("charges", "CHG-1", State.FAILED)
    deployed.bury("charges", charge_body("CHG-1"), reason="rejected")
    assert once("dlq", "discard", "--key", "CHG-1", "--reason", "hm", answer="n\n").exit_code == 1
    assert once("dlq", "discard", "--key", "CHG-1", "--yes").exit_code == 2
    assert once("dlq", "discard", "--reason", "hm", "--yes").exit_code == 2
    assert deployed.bodies("charges", DEAD) == [charge_body("CHG-1")]
