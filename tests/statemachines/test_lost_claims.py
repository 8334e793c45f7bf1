"""A claim lost between guard and record: no effect without it, and no event vanishes with it."""

from collections.abc import Callable
from typing import Any

import pytest

from idempotency.model import Key, State
from tests.statemachines.faults import CRASH, after, answer_lost, fails
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.marks import idempotent_downstream
from tests.statemachines.messages import EVENT
from tests.statemachines.paths import PROCEEDS, SETTLED, WAITED, WRITTEN_OFF

OTHER = "another execution"


class Taker:
    """Whoever changes the record while our execution believes that it holds the claim."""

    def __init__(self, ingestion: IngestionRun) -> None:
        self._ledger: Any = ingestion.ledger
        self._clock = ingestion.clock
        self._retention = ingestion.settings.retention_seconds
        self._lease = ingestion.settings.lease_seconds
        self._key: Key = ingestion.key("E-1")

    def gives_back(self) -> None:
        """An operator releases it."""
        held = self._ledger.read(self._key)
        self._mark("release", held.owner, held.attempt, retention=self._retention, reason="operator")

    def takes(self) -> None:
        self.gives_back()
        self.claims()

    def claims(self) -> None:
        self._claim(OTHER)

    def completes(self) -> None:
        self.takes()
        self._mark("complete", OTHER, 2, retention=self._retention)

    def fails(self) -> None:
        self.takes()
        self._mark("fail", OTHER, 2, retention=self._retention, reason="rejected")

    def doubts(self) -> None:
        self.takes()
        self._mark("doubt", OTHER, 2, reason="in-doubt")

    def releases(self) -> None:
        self.takes()
        self._mark("release", OTHER, 2, retention=self._retention, reason="not-applied")

    def lets_it_expire(self) -> None:
        self._clock.advance(self._retention)

    def claims_again_for_the_same_execution(self) -> None:
        held = self._ledger.read(self._key)
        self.gives_back()
        self._claim(held.owner)

    def _claim(self, owner: str) -> None:
        self._ledger.claim(
            self._key, owner=owner, now=self._clock(), lease=self._lease, retention=self._retention
        )

    def _mark(self, mark: str, owner: str, attempt: int, **details: Any) -> None:
        getattr(self._ledger, mark)(self._key, owner=owner, attempt=attempt, now=self._clock(), **details)


Take = Callable[[Taker], None]


@pytest.mark.parametrize("take", [Taker.completes, Taker.fails, Taker.doubts])
@pytest.mark.parametrize("when", ["before the effect", "during the effect"])
def test_an_event_that_another_has_dealt_with_ends_quietly(
    ingestion: IngestionRun, take: Take, when: str
) -> None:
    lose_claim(ingestion, take, when)

    run = ingestion.deliver(EVENT)

    assert run.status == "SUCCEEDED"
    assert run.states == [*PROCEEDS, *WAITED, *SETTLED]
    assert ingestion.dead_letter_queue.letters == []
    record = ingestion.record("E-1")
    assert (record.owner, record.attempt) == (OTHER, 2)


@pytest.mark.parametrize("when", ["before the effect", "during the effect"])
def test_an_event_that_another_has_in_progress_keeps_a_copy(ingestion: IngestionRun, when: str) -> None:
    lose_claim(ingestion, Taker.takes, when)

    run = ingestion.deliver(EVENT)

    assert run.states == [*PROCEEDS, *WAITED, *WRITTEN_OFF]
    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == ("still-in-progress", EVENT)
    record = ingestion.record("E-1")
    assert (record.state, record.owner, record.attempt) == (State.IN_PROGRESS, OTHER, 2)


@idempotent_downstream
def test_a_claim_that_arrives_when_its_own_execution_has_ended_takes_no_event_along(
    ingestion: IngestionRun,
) -> None:
    """Its guard, asked again, had found the event in progress here, and skipped it. Nobody works under it."""
    taker = Taker(ingestion)
    ingestion.downstream.always(fails(CRASH))
    ingestion.functions.record_failure.first(answer_lost(CRASH, meanwhile=taker.claims))

    run = ingestion.deliver(EVENT)

    assert run.states == [*PROCEEDS, *WAITED, *WRITTEN_OFF]
    assert ingestion.dead_letter_queue.reasons == ["still-in-progress"]


@pytest.mark.parametrize(
    ("when", "take"),
    [
        ("before the effect", Taker.gives_back),
        ("before the effect", Taker.releases),
        ("before the effect", Taker.lets_it_expire),
        ("during the effect", Taker.releases),
        ("during the effect", Taker.lets_it_expire),
    ],
)
def test_an_event_that_nobody_took_over_is_dead_lettered(
    ingestion: IngestionRun, take: Take, when: str
) -> None:
    lose_claim(ingestion, take, when)

    run = ingestion.deliver(EVENT)

    assert run.states == [*PROCEEDS, *WAITED, *WRITTEN_OFF]
    [letter] = ingestion.dead_letter_queue.letters
    assert (letter.reason, letter.body) == ("lease-lost", EVENT)


def test_an_effect_whose_claim_was_given_back_meanwhile_is_done_all_the_same(ingestion: IngestionRun) -> None:
    lose_claim(ingestion, Taker.gives_back, "during the effect")

    assert ingestion.deliver(EVENT).states == PROCEEDS
    assert ingestion.record("E-1").state is State.DONE


def test_a_lost_claim_causes_no_effect(ingestion: IngestionRun) -> None:
    lose_claim(ingestion, Taker.takes, "before the effect")

    ingestion.deliver(EVENT)

    assert ingestion.downstream.asked == []
    assert len(ingestion.functions.calls("SideEffect")) == 1


def test_a_later_attempt_of_the_same_execution_is_marked_before_it_is_dead_lettered(
    ingestion: IngestionRun,
) -> None:
    lose_claim(ingestion, Taker.claims_again_for_the_same_execution, "before the effect")

    run = ingestion.deliver(EVENT)

    assert run.states == [*PROCEEDS, *WAITED, *WRITTEN_OFF]
    assert ingestion.dead_letter_queue.reasons == ["in-doubt"]
    record = ingestion.record("E-1")
    assert (record.state, record.owner, record.attempt) == (State.IN_DOUBT, run.arn, 2)


def test_a_lease_that_would_end_before_its_task_is_renewed_first(ingestion: IngestionRun) -> None:
    ingestion.functions.side_effect.first(after(lambda: nearly_end_the_lease(ingestion)))

    assert ingestion.deliver(EVENT).states == PROCEEDS
    record = ingestion.record("E-1")
    assert record.lease_until == ingestion.clock() + ingestion.settings.lease_seconds
    assert not record.unknown


@idempotent_downstream
def test_a_claim_taken_over_between_two_tries_is_not_used_for_a_third(ingestion: IngestionRun) -> None:
    taker = Taker(ingestion)
    ingestion.downstream.first(answer_lost(CRASH))
    ingestion.functions.side_effect.first(lambda work: work(), after(taker.takes))

    run = ingestion.deliver(EVENT)

    assert run.states == [*PROCEEDS, *WAITED, *WRITTEN_OFF]
    assert ingestion.dead_letter_queue.reasons == ["still-in-progress"]
    assert len(ingestion.downstream.asked) == 1


def test_a_claim_lost_to_a_taker_after_an_unknown_outcome_stays_the_takers(ingestion: IngestionRun) -> None:
    taker = Taker(ingestion)
    ingestion.downstream.always(fails(CRASH))
    ingestion.functions.record_failure.first(after(taker.completes))

    assert ingestion.deliver(EVENT).states == [*PROCEEDS, *WAITED, *SETTLED]
    assert ingestion.dead_letter_queue.letters == []


def lose_claim(ingestion: IngestionRun, take: Take, when: str) -> None:
    """Before the effect only a renewal can notice: the lease has to be short for one."""
    taker = Taker(ingestion)
    if when == "during the effect":
        ingestion.downstream.first(after(lambda: take(taker)))
        return

    def lose() -> None:
        nearly_end_the_lease(ingestion)
        take(taker)

    ingestion.functions.side_effect.first(after(lose))


def nearly_end_the_lease(ingestion: IngestionRun) -> None:
    s = ingestion.settings
    ingestion.clock.advance(s.lease_seconds - s.task_timeout_seconds(s.functions.side_effect) + 1)
