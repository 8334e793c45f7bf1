"""A call to Parameter Store took effect unheard, or was refused: the registration ends the same."""

from dataclasses import replace
from typing import Any

import pytest

from sandbox.demo.registrations_deployment import SCHEDULED
from sandbox.downstream import Answer
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM, under, under_both
from tests.sandbox.deployed import eventually
from tests.sandbox.registrations import ACCEPTED, BUSY, DONE, DROPPED, REJECTED, End, Registrations

RELEASED = End(effects=0, steps=("IN_PROGRESS", "RELEASED"))
FAILED = End(effects=0, steps=("IN_PROGRESS", "FAILED", "REPORTED"), reasons=("rejected",))

STEPS: dict[str, tuple[int, Answer, dict[str, int] | None, End]] = {
    "claim": (1, ACCEPTED, {"executed": 1}, DONE),
    "complete": (2, ACCEPTED, {"executed": 1}, DONE),
    "fail": (2, REJECTED, {"dead": 1}, FAILED),
    "report": (3, REJECTED, {"dead": 1}, FAILED),
    "release": (2, BUSY, None, RELEASED),
}
"""Each step: its number, what the registry answers, what the processor answers, how the registration ends."""

REFUSALS = {"ThrottlingException": 3, "TooManyUpdates": 2}
"""How often a step is refused; of the first the SDK itself tries each call twice."""


@under_both
@pytest.mark.parametrize("step", STEPS)
def test_a_step_recognises_itself_when_its_answer_was_lost(registrations: Registrations, step: str) -> None:
    number, answer, expected, end = STEPS[step]
    due = registrations.due(answer)
    fault = registrations.faults.lost_answer("PutParameter", body=calls_to_aws.parameter(due, number))

    said = registrations.take(due)

    assert said == expected if expected else said["errorType"] == "Unfinished"
    assert registrations.end(due) == end
    assert fault.fired() == 1
    assert len(registrations.calls(due)) == 1


@under(AT_MOST_ONCE)
def test_a_doubt_recognises_itself_too(registrations: Registrations) -> None:
    due = registrations.due(DROPPED)
    fault = registrations.faults.lost_answer("PutParameter", body=calls_to_aws.parameter(due, 2))

    assert registrations.take(due) == {"dead": 1}
    assert registrations.end(due) == End(
        effects=1, steps=("IN_PROGRESS", "IN_DOUBT", "REPORTED"), reasons=("in-doubt",)
    )
    assert fault.fired() == 1


@under_both
@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_the_store_is_too_busy_for_is_taken_in_the_end(
    registrations: Registrations, step: str, code: str
) -> None:
    number, answer, expected, end = STEPS[step]
    due = registrations.due(answer)
    fault = registrations.faults.error(
        "PutParameter", code, status=400, body=calls_to_aws.parameter(due, number), times=REFUSALS[code]
    )

    said = registrations.take(due)

    assert said == expected if expected else said["errorType"] == "Unfinished"
    assert registrations.end(due) == end
    assert fault.fired() == REFUSALS[code]
    assert len(registrations.calls(due)) == 1


@under_both
@pytest.mark.parametrize("fault", ["unheard", "throttled"])
def test_a_listing_that_fails_once_is_repeated(registrations: Registrations, fault: str) -> None:
    due = registrations.due()
    where, faults = calls_to_aws.listing(due), registrations.faults
    if fault == "unheard":
        ordered = faults.lost_answer("GetParametersByPath", body=where)
    else:
        ordered = faults.error("GetParametersByPath", "ThrottlingException", status=400, body=where)

    assert registrations.take(due) == {"executed": 1}
    assert registrations.end(due) == DONE
    assert ordered.fired() == 1


@under_both
@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ("GetParametersByPath", "AccessDeniedException"),
        ("PutParameter", "AccessDeniedException"),
        ("PutParameter", "ParameterLimitExceeded"),
    ],
)
def test_a_store_that_refuses_means_not_claimed(
    registrations: Registrations, operation: str, code: str
) -> None:
    due = registrations.due()
    where = calls_to_aws.listing(due) if operation != "PutParameter" else calls_to_aws.parameter(due, 1)
    fault = registrations.faults.error(operation, code, status=400, body=where)

    assert registrations.take(due)["errorType"] == "Unfinished"
    assert registrations.calls(due) == []
    assert fault.fired() == 1
    assert registrations.take(due) == {"executed": 1}
    assert registrations.end(due) == DONE


@under_both
def test_an_expiry_whose_completion_was_not_heard_of_is_not_repeated(registrations: Registrations) -> None:
    due = registrations.due()
    fault = registrations.faults.lost_answer("PutParameter", body=calls_to_aws.parameter(due, 2), times=2)

    registrations.take(due)

    assert fault.fired() == 2
    assert registrations.take(due) == {"skipped-completed": 1}
    assert registrations.end(due) == DONE
    assert len(registrations.calls(due)) == 1


@under(IDEMPOTENT_DOWNSTREAM)
def test_a_claim_that_nobody_heard_of_is_taken_over_when_its_lease_is_over(
    registrations: Registrations,
) -> None:
    due = registrations.due()
    fault = registrations.faults.lost_answer("PutParameter", body=calls_to_aws.parameter(due, 1), times=2)

    for _ in range(2):
        assert registrations.take(due)["errorType"] == "Unfinished"
    assert (fault.fired(), registrations.calls(due)) == (2, [])
    registrations.lapse(due)
    assert registrations.take(due) == {"executed": 1}
    assert registrations.end(due) == replace(DONE, steps=("IN_PROGRESS", "IN_PROGRESS", "DONE"))


def run_without_its_source(registrations: Registrations) -> dict[str, Any] | None:
    """None if the run of the schedule met the fault instead."""
    fault = registrations.faults.error("GetObject", "AccessDenied", status=403)
    said = registrations.invoke(SCHEDULED)
    assert fault.fired() == 1
    return said if "errorType" in said else None


@under_both
def test_a_source_that_cannot_be_read_fails_the_run_and_nothing_is_lost(registrations: Registrations) -> None:
    due = registrations.due()
    registrations.publish(due)

    said = eventually(lambda: run_without_its_source(registrations))

    assert said["errorType"] == "UnreadableDocument"
    assert "AccessDenied" in said["errorMessage"]
    registrations.deployment.run()
    assert registrations.end(due) == DONE
