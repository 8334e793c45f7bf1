"""Deliberate faults in the guard on Parameter Store and in its sweeper."""

from typing import Any

import pytest

from idempotency import transitions
from idempotency.adapters.ssm import parameters, sweeper
from idempotency.adapters.ssm.parameters import Busy, Parameters
from idempotency.adapters.ssm.steps import Note, Step
from idempotency.adapters.ssm.sweeper import Sweeper
from idempotency.run_once import Guard
from tests.simulation.mutants.rewriting import Mutant, rewritten


def whatever_is_refused_is_mine(patch: pytest.MonkeyPatch) -> None:
    create = Parameters.create

    def believe(self: Parameters, key: Any, step: Step) -> bool:
        create(self, key, step)
        return True

    patch.setattr(Parameters, "create", believe)


def concurrent_updates_are_mine(patch: pytest.MonkeyPatch) -> None:
    create = Parameters.create

    def believe(self: Parameters, key: Any, step: Step) -> bool:
        try:
            return create(self, key, step)
        except Busy as busy:
            return "TooManyUpdates" in str(busy)

    patch.setattr(Parameters, "create", believe)


def a_key_that_is_being_swept_is_claimed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Step, "swept", False)


def an_unknown_outcome_is_released_as_if_nothing_had_happened(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Guard, "_unknown", lambda self, claim: self.release(claim, reason="mutant"))


def a_mark_is_anybodys(patch: pytest.MonkeyPatch) -> None:
    mine = transitions._mine
    patch.setattr(transitions, "_mine", lambda stored, *rest: stored or mine(stored, *rest))


def the_sweeper_takes_what_is_alive(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sweeper, "expired", lambda until, now: until is not None and until <= now + 7_000)


def the_sweeper_deletes_without_a_step_of_its_own(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sweeper._Log, "finished", property(lambda log: log.settled == set(log.steps)))


def the_sweeper_believes_its_listing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Sweeper, "_stand", lambda *_: True)


def the_sweeper_does_not_wait_for_listings_to_catch_up(patch: pytest.MonkeyPatch) -> None:
    init = Sweeper.__init__
    patch.setattr(sweeper, "_LONGEST_CALL_SECONDS", 0)
    patch.setattr(Sweeper, "__init__", lambda self, *args, **kw: init(self, *args, **{**kw, "staleness": 60}))


def the_sweeper_skips_the_second_marker(patch: pytest.MonkeyPatch) -> None:
    follow_up = sweeper._Log.follow_up

    def sweep_only(log: sweeper._Log, now: int) -> Note | None:
        note = follow_up(log, now)
        return note if note is Note.SWEPT else None

    def finished(log: sweeper._Log) -> bool:
        return log.swept and set(log.steps) == log.settled == {log.last}

    patch.setattr(sweeper._Log, "follow_up", sweep_only)
    patch.setattr(sweeper._Log, "finished", property(finished))


def a_listing_ends_with_its_first_page(patch: pytest.MonkeyPatch) -> None:
    page = parameters.page
    patch.setattr(parameters, "page", lambda *args, **kw: (page(*args, **kw)[0], None))


def an_end_is_over_a_second_too_late(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, transitions, "expired", "until <= now", "until < now")


MUTANTS: list[Mutant] = [
    an_end_is_over_a_second_too_late,
    whatever_is_refused_is_mine,
    concurrent_updates_are_mine,
    a_key_that_is_being_swept_is_claimed,
    an_unknown_outcome_is_released_as_if_nothing_had_happened,
    a_mark_is_anybodys,
    the_sweeper_takes_what_is_alive,
    the_sweeper_deletes_without_a_step_of_its_own,
    the_sweeper_believes_its_listing,
    the_sweeper_does_not_wait_for_listings_to_catch_up,
    the_sweeper_skips_the_second_marker,
    a_listing_ends_with_its_first_page,
]
