"""The consumer says which charge it speaks of, counts what it does, and logs no payload."""

from tests.sandbox.begun_early import AT_MOST_ONCE, under
from tests.sandbox.charges import REJECTED, Charges
from tests.sandbox.deployed import PAYLOAD_MARKER


@under(AT_MOST_ONCE)
def test_the_consumer_logs_the_charges_key_and_counts(charges: Charges) -> None:
    done, rejected = charges.due(), charges.due(REJECTED)
    charges.acknowledged(charges.send(done, rejected))

    assert [line["message"] for line in charges.said(done)] == ["done"]
    assert [line["message"] for line in charges.said(rejected)] == ["dead-lettered"]
    lines = charges.log_lines("Consumer")
    assert any(line.get("Status") == "DEBITED" and "Done" in line for line in lines)
    assert any(line.get("Reason") == "rejected" and "DeadLettered" in line for line in lines)


@under(AT_MOST_ONCE)
def test_no_payload_is_logged_anywhere(charges: Charges) -> None:
    """Over all that the other tests of charges brought about, failures of every kind among them."""
    logged = charges.everything_logged()
    messages = [message for group in logged.values() for message in group]

    assert len(logged) >= 2
    assert messages
    assert [message for message in messages if PAYLOAD_MARKER in message] == []
