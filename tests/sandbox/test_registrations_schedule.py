"""Both schedules are deployed, lead to their functions, and have them do their work."""

import time
from typing import Any

import pytest

from tests.sandbox.begun_early import AT_MOST_ONCE, under, under_both
from tests.sandbox.registrations import DONE, Registrations

SCHEDULES = {"Processing": ("Processor", "rate(1 minute)"), "Sweeping": ("Sweeper", "rate(1 hour)")}


def schedule(registrations: Registrations, construct: str) -> Any:
    stack = f"sandbox-registrations-{registrations.semantics}"
    name = registrations.sandbox.physical_id(stack, construct, "AWS::Scheduler::Schedule")
    return registrations.sandbox.client("scheduler").get_schedule(Name=name.rpartition("/")[2])


@under(AT_MOST_ONCE)
@pytest.mark.parametrize("construct", SCHEDULES)
def test_a_schedule_calls_its_function(registrations: Registrations, construct: str) -> None:
    function, expression = SCHEDULES[construct]
    deployed = schedule(registrations, construct)

    assert (deployed["ScheduleExpression"], deployed["State"]) == (expression, "ENABLED")
    assert deployed["Target"]["Arn"] == registrations.configuration(function)["FunctionArn"]
    assert deployed["Target"]["DeadLetterConfig"]["Arn"].startswith("arn:aws:sqs:")


@under_both
def test_what_the_schedule_sends_expires_what_is_due(registrations: Registrations) -> None:
    """The same target at a time of our own, so that nobody has to wait for the next minute."""
    due = registrations.due()
    registrations.publish(due)
    registrations.sandbox.client("scheduler").create_schedule(
        Name=f"soon-{registrations.semantics}",
        ScheduleExpression=time.strftime("at(%Y-%m-%dT%H:%M:%S)", time.gmtime(time.time() + 1)),
        FlexibleTimeWindow={"Mode": "OFF"},
        Target=schedule(registrations, "Processing")["Target"],
    )

    registrations.ends(due, DONE)
