"""The functions say which registration they speak of, count what they do, and log no payload."""

from tests.sandbox.begun_early import AT_MOST_ONCE, Begun, under
from tests.sandbox.deployed import PAYLOAD_MARKER
from tests.sandbox.metrics import metrics
from tests.sandbox.registrations import REJECTED, Registrations


@under(AT_MOST_ONCE)
def test_the_processor_logs_the_registrations_key_and_counts(registrations: Registrations) -> None:
    done, rejected = registrations.due(), registrations.due(REJECTED)
    for due in (done, rejected, done):
        registrations.take(due)
    registrations.publish(done, beside=("no registration",))
    registrations.deployment.run()

    assert [line["message"] for line in registrations.said(rejected)] == ["dead-lettered"]
    counted = metrics(registrations.log_lines("Processor"))
    assert {
        ("Registrations", "executed"),
        ("Registrations", "skipped-completed"),
        ("Registrations", "dead"),
        ("DeadLettered", "rejected"),
        ("InvalidRegistrations", None),
    } <= counted


@under(AT_MOST_ONCE)
def test_the_sweeper_counts_the_parameters_that_are_left(registrations: Registrations) -> None:
    registrations.take(registrations.due())
    counts = registrations.deployment.sweep()

    lines = registrations.log_lines("Sweeper")
    assert ("Parameters", None) in metrics(lines)
    assert [counts["parameters"]] in [line["Parameters"] for line in lines if "Parameters" in line]
    assert any(line.get("counts") == counts for line in lines)


@under(AT_MOST_ONCE)
def test_no_payload_is_logged_anywhere(registrations: Registrations, all_begun: Begun) -> None:
    """Over all that the other tests of registrations brought about, failures of every kind among them."""
    all_begun.await_all()
    logged = registrations.everything_logged()
    messages = [message for group in logged.values() for message in group]

    assert len(logged) >= 3
    assert messages
    assert [message for message in messages if PAYLOAD_MARKER in message] == []
