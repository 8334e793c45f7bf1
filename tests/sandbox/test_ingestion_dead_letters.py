"""What can't be done is in the dead-letter queue, verbatim and with its reason, as often as it comes back."""

import json
from dataclasses import replace

import pytest

from sandbox.downstream import Answer
from tests.sandbox.begun_early import AT_MOST_ONCE, under, under_both
from tests.sandbox.deployed import PAYLOAD_MARKER, eventually
from tests.sandbox.workload import Event, Outcome, Workload

TOO_LARGE_BYTES = 230_000

BODIES = {
    "invalid-json": f"{PAYLOAD_MARKER} is no JSON",
    "no-key": json.dumps({"note": PAYLOAD_MARKER}),
    "too-large": json.dumps(
        {"eventId": "too-large", "note": PAYLOAD_MARKER, "padding": "x" * TOO_LARGE_BYTES}
    ),
}


@under(AT_MOST_ONCE)
@pytest.mark.parametrize("reason", BODIES)
def test_a_body_that_can_be_no_execution_is_dead_lettered_as_it_came(workload: Workload, reason: str) -> None:
    event = Event(body=BODIES[reason], pk="")
    attributes = {"tenant": {"DataType": "String", "StringValue": "acme"}}
    delivery = workload.send(event, attributes=attributes)

    (letter,) = eventually(lambda: workload.letters(event), seconds=120)
    first_seen = int(letter.attributes.pop("firstSeenAt")["StringValue"]) / 1000
    assert abs(first_seen - delivery.sent_at) < 5
    texts = {name: attribute["StringValue"] for name, attribute in letter.attributes.items()}
    assert texts == {"reason": reason, "tenant": "acme"}


@under_both
def test_a_rejected_event_that_is_redriven_comes_back_as_failed(workload: Workload) -> None:
    """Natively redriven first, then sent again by its producer, without attributes."""
    event = workload.event(Answer(status=422))
    rejected = Outcome(effects=0, state="FAILED", reasons=("rejected",))

    assert workload.outcome(workload.send(event)) == rejected
    redriven = workload.redrive(event)
    assert workload.outcome(redriven) == replace(rejected, reasons=("rejected", "failed"))
    resent = workload.send(event)
    assert workload.outcome(resent) == replace(rejected, reasons=("rejected", "failed", "failed"))

    first, again, anew = (
        letter.attributes["firstSeenAt"]["StringValue"] for letter in workload.letters(event)
    )
    assert first == again != anew
    assert len(workload.calls(event)) == 1
