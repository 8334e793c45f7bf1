"""Guard, SideEffect and RecordFailure: whatever the workflow hands them, only documented errors come out."""

from typing import Any

import pytest
from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from idempotency.errors import Contended, LeaseLost, OutcomeUnknown
from idempotency.model import Key, Semantics, State
from ingestion.delivery import key_of
from ingestion.idempotency_guard import DEAD_LETTERED, guard
from tests.contract.lives import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM, LEASE, MARGIN, NOW, OTHER
from tests.contract.lives import OWNER as EXECUTION
from tests.fuzz.effort import examples
from tests.fuzz.strategies.texts import any_text, json_values
from tests.fuzz.workshop import (
    EFFECTS,
    TASK_SECONDS,
    Deed,
    Workshop,
    deliveries,
    others_deeds,
    outages,
    pasts,
    workshops,
)
from tests.unit.charges.ports import FailingLedger, StoreDown

SKIPPED = {"done", "in-progress"}
ENDED = {"done", "claim-lost"}
RECORDED = {
    "rejected",
    "in-doubt",
    "not-applied",
    "lease-lost",
    "mismatch",
    "guard-failed",
    "still-in-progress",
}


@examples(200)
@given(workshops, deliveries, pasts, outages)
def test_the_guard_claims_or_names_what_stands_in_the_way(
    workshop: Workshop, delivery: dict[str, Any], past: list[Deed], outage: dict[str, Any]
) -> None:
    workshop.live_through(past, key_of(delivery), "content")
    workshop.ledger.down = outage
    try:
        outcome = workshop.guard(delivery)
    except (StoreDown, Contended):
        return
    record = workshop.record(delivery)
    assert record
    assert outcome["idempotencyKey"] == {"pk": record.key.pk, "sk": record.key.sk}
    assert outcome["proceed"] is (outcome["reason"] == "claimed")
    if outcome["proceed"]:
        assert (record.state, record.owner) == (State.IN_PROGRESS, EXECUTION)
        assert (outcome["attempt"], outcome["leaseUntil"]) == (record.attempt, record.lease_until)
    else:
        assert outcome["reason"] in SKIPPED | DEAD_LETTERED
        if outcome["reason"] == "done":
            assert record.state is State.DONE


def _proceeds(workshop: Workshop, delivery: dict[str, Any], past: list[Deed]) -> dict[str, Any]:
    """After what its guard says."""
    workshop.live_through(past, key_of(delivery), delivery["fingerprint"])
    outcome = workshop.guard(delivery)
    assume(outcome["proceed"])
    return outcome


@examples(200)
@given(
    workshops,
    deliveries,
    pasts,
    others_deeds,
    outages,
    st.sampled_from(list(EFFECTS)),
    st.integers(0, 2),
    st.sampled_from([0, 0, 1]),
)
def test_an_effect_begins_only_under_a_live_claim_and_done_is_said_only_of_what_is_done(
    workshop: Workshop,
    delivery: dict[str, Any],
    past: list[Deed],
    meanwhile: list[Deed],
    outage: dict[str, Any],
    ends: str,
    retries: int,
    redrives: int,
) -> None:
    outcome = _proceeds(workshop, delivery, past)
    workshop.live_through(meanwhile, key_of(delivery), delivery["fingerprint"])
    workshop.ledger.down = outage
    documented = (StoreDown, LeaseLost, OutcomeUnknown, *filter(None, [EFFECTS[ends]]))
    try:
        answer = workshop.side_effect(delivery, outcome, ends=ends, retries=retries, redrives=redrives)
    except documented as error:  # type: ignore[misc] # classes, chosen at run time
        event(type(error).__name__)
    else:
        assert answer == {"reason": "done"}
        record = workshop.record(delivery)
        assert record
        assert (record.state, record.owner) == (State.DONE, EXECUTION)
    if redrives and workshop.ledger.policy.semantics is Semantics.AT_MOST_ONCE:
        assert workshop.caused == []
    for record in workshop.caused:
        assert record
        assert record.owned_by(EXECUTION, outcome["attempt"])
        assert record.state is State.IN_PROGRESS
        assert record.lease_until >= workshop.now + TASK_SECONDS


DELIVERY = {
    "messageId": "m-1",
    "businessKey": "event:E-1",
    "namespace": None,
    "fingerprint": None,
    "returned": False,
}
TAKEN_OVER: Deed = ("claim", OTHER, None, LEASE + MARGIN)
GIVEN_BACK: Deed = ("release", OTHER, None, 0)
_names = st.sampled_from(["Rejected", "NotApplied", "OutcomeUnknown", "States.Timeout"])
errors: st.SearchStrategy[dict[str, Any] | None] = st.one_of(
    _names.map(lambda name: {"Error": name, "Cause": "{}"}),
    _names.map(lambda name: {"Error": name, "Cause": "{}"}),
    st.fixed_dictionaries({}, optional={"Error": any_text, "Cause": any_text | json_values}),
    st.none(),
)


@examples(300)
@given(
    workshops,
    deliveries,
    pasts,
    pasts,
    outages,
    errors,
    st.sampled_from([True, True, True, False]),
)
@example(Workshop(IDEMPOTENT_DOWNSTREAM), DELIVERY, [], [TAKEN_OVER, GIVEN_BACK], {}, None, True)
def test_a_failure_is_recorded_as_what_it_is_and_failed_is_said_only_of_what_was_rejected(
    workshop: Workshop,
    delivery: dict[str, Any],
    past: list[Deed],
    meanwhile: list[Deed],
    outage: dict[str, Any],
    error: dict[str, Any] | None,
    guarded: bool,
) -> None:
    state = {**delivery, "error": error}
    workshop.live_through(past, key_of(delivery), "content")
    if guarded:
        state["outcome"] = workshop.guard(delivery)
    workshop.live_through(meanwhile, key_of(delivery), "content")
    before = workshop.record(delivery)
    workshop.ledger.down = outage
    try:
        reason = workshop.record_failure(state)
    except StoreDown:
        return
    record = workshop.record(delivery)
    event(reason)
    assert reason in ENDED | RECORDED
    if reason == "done":
        assert record
        assert record.state is State.DONE
    if reason in ("claim-lost", "still-in-progress"):
        assert record
        assert record.owner != EXECUTION
        assert record.state is not State.RELEASED
        assert (record.state is State.IN_PROGRESS) is (reason == "still-in-progress")
    if record and record.state is State.FAILED and record != before:
        assert (error or {}).get("Error") == "Rejected"
    if reason not in ENDED:  # a dead letter: nobody may still be at work under this execution's claim
        assert not (record and record.state is State.IN_PROGRESS and record.owner == EXECUTION)


@pytest.mark.parametrize("part", ["messageId", "executionId"])
def test_a_guard_that_is_not_told_whose_event_it_is_claims_nothing(part: str) -> None:
    ledger = FailingLedger(AT_MOST_ONCE)
    payload = {"messageId": "m-1", "executionId": EXECUTION, "businessKey": "event:E-1"}
    del payload[part]
    with pytest.raises(KeyError):
        guard(payload, ledger=ledger, clock=lambda: NOW, lease=LEASE)
    assert ledger.read(Key(pk="event:E-1", sk="ingestion")) is None
