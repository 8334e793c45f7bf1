"""A worker whose lease was taken over changes nothing, on any store: neither by success nor by failure."""

from collections.abc import Iterator

import pytest

from charges.model import ChargeStatus
from charges.service import Settled, Wait
from idempotency.errors import LeaseLost, NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Semantics
from tests.contract.engines import ENGINES, Engine
from tests.unit.charges.desk import KEY, TAKEOVER, Desk, policy

LATE: dict[str, Exception | None] = {
    "success": None,
    "rejected": Rejected(),
    "not applied": NotApplied(),
    "unknown": OutcomeUnknown(),
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with ENGINES[request.param]() as engine:
        yield engine


@pytest.fixture
def desk(engine: Engine) -> Desk:
    kind = Semantics.IDEMPOTENT_DOWNSTREAM
    return Desk(kind, engine.ledger(policy(kind)))


def _taken_over(desk: Desk, engine: Engine, *, winner_ends: bool) -> list[object]:
    """Arranges that another delivery takes the charge over during the first one's debit.

    What the store then holds is added to the list that is returned.
    """
    at_rest: list[object] = []
    own_error = desk.bank.raises

    def overtake() -> None:
        desk.bank.meanwhile = lambda: None
        desk.now = TAKEOVER
        desk.bank.raises = None if winner_ends else OutcomeUnknown()
        winner = desk.recover()
        assert isinstance(winner, Settled if winner_ends else Wait)
        desk.bank.raises = own_error
        at_rest.append(engine.at_rest(desk.ledger, KEY))

    desk.bank.meanwhile = overtake
    return at_rest


@pytest.mark.parametrize("winner_ends", [True, False], ids=["winner done", "winner working"])
@pytest.mark.parametrize(
    ("end", "last_chance"),
    [(end, last) for end in LATE for last in (False, True) if last or end != "unknown"],  # that one: below
)
def test_the_record_of_the_winner_stands_byte_by_byte(
    end: str, last_chance: bool, winner_ends: bool, desk: Desk, engine: Engine
) -> None:
    desk.bank.raises = LATE[end]
    winners = _taken_over(desk, engine, winner_ends=winner_ends)
    with pytest.raises(LeaseLost):
        desk.recover(last_chance=last_chance)
    assert [engine.at_rest(desk.ledger, KEY)] == winners
    assert desk.bank.debits == [("CHG-1", 1), ("CHG-1", 2)]


def test_an_unknown_outcome_of_a_late_worker_leaves_the_record_alone(desk: Desk, engine: Engine) -> None:
    """It writes nothing; the message comes back, and finds what became of the charge."""
    desk.bank.raises = OutcomeUnknown()
    winners = _taken_over(desk, engine, winner_ends=True)
    assert desk.recover() == Wait(until=TAKEOVER)
    assert [engine.at_rest(desk.ledger, KEY)] == winners


def test_a_late_worker_that_nobody_took_over_still_counts(desk: Desk) -> None:
    def slow() -> None:
        desk.now = TAKEOVER + 100

    desk.bank.meanwhile = slow
    assert desk.recover() == Settled(status=ChargeStatus.DEBITED)
