"""The deployed sweeper takes what is past its retention, removes what it took long ago, leaves the rest."""

import time

import pytest

from sandbox.demo.registrations_sweep import Gardener, problems
from tests.sandbox.begun_early import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM, under
from tests.sandbox.registrations import DONE, Registrations

DELETIONS = 3  # one of numbers that nobody needs, and one for the end of each of two keys


def plant(registrations: Registrations) -> None:
    ssm = registrations.sandbox.client("ssm")
    Gardener(ssm, registrations.deployment.prefix, now=int(time.time())).plant()


@under(AT_MOST_ONCE)
def test_a_run_goes_one_step_with_each_key_and_counts_what_is_left(registrations: Registrations) -> None:
    due = registrations.due()
    registrations.take(due)
    plant(registrations)
    throttled = [
        registrations.faults.error(operation, "ThrottlingException", status=400)
        for operation in ("GetParametersByPath", "DeleteParameters")
    ]

    counts = registrations.deployment.sweep()

    assert [fault.fired() for fault in throttled] == [1, 1]
    assert problems(registrations.deployment.steps()) == []
    assert registrations.end(due) == DONE
    lines = registrations.log_lines("Sweeper")
    assert [counts["parameters"]] in [line["Parameters"] for line in lines if "Parameters" in line]


@under(IDEMPOTENT_DOWNSTREAM)
def test_a_delete_that_was_not_heard_of_is_not_sent_again_but_named(registrations: Registrations) -> None:
    plant(registrations)
    lost = registrations.faults.lost_answer("DeleteParameters", times=DELETIONS)

    with pytest.raises(RuntimeError, match="Unswept"):
        registrations.deployment.sweep()

    assert lost.fired() == DELETIONS
    (line,) = [line for line in registrations.log_lines("Sweeper") if line.get("failed")]
    assert len(line["failed"]) == DELETIONS
    assert problems(registrations.deployment.steps()) == []  # they did take effect
