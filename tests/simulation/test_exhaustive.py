"""The search itself, and the smallest of the scopes that `make simulate` goes through."""

from collections.abc import Callable

import pytest

from idempotency.model import Semantics
from tests.simulation.exhaustive import Explored, Search, explore
from tests.simulation.scheduler import Fate, Violation
from tests.simulation.scopes import SCOPES, Searched


class Race:
    """Two actors that each read a counter and write it back."""

    def __init__(self, search: Search, *, told: Callable[[int], None] = lambda _: None) -> None:
        self._search = search
        self._told = told
        self.counter = 0

    def run(self) -> None:
        for name in ("one", "another"):
            self._search.start(name, self._count)
        self._search.run()
        self._told(self.counter)

    def services(self) -> object:
        return self.counter

    def _count(self) -> None:
        self._search.leave("reads")
        seen = self.counter
        self._search.heard(seen)
        self._search.leave("writes")
        self.counter = seen + 1


def test_the_search_finds_every_outcome_of_a_race() -> None:
    outcomes: set[int] = set()
    explored = explore(lambda search: Race(search, told=outcomes.add), {})
    assert outcomes == {1, 2}
    assert explored.states > explored.schedules > 2


def test_each_mishap_strikes_at_each_call_and_no_oftener_than_it_may() -> None:
    fates: set[tuple[Fate, ...]] = set()

    class Calls:
        def __init__(self, search: Search) -> None:
            self._search = search

        def run(self) -> None:
            self._search.start("caller", self._call)
            self._search.run()

        def services(self) -> object:
            return None

        def _call(self) -> None:
            fates.add(tuple(self._search.leave("call") for _ in range(3)))

    explore(Calls, {Fate.UNHEARD: 1})
    goes, unheard = Fate.GOES, Fate.UNHEARD
    assert fates == {(goes,) * 3, (unheard, goes, goes), (goes, unheard, goes), (goes, goes, unheard)}


def test_a_violation_ends_the_search() -> None:
    class Broken(Race):
        def run(self) -> None:
            super().run()
            if self.counter == 1:
                raise self._search.violation("an update is lost")

    with pytest.raises(Violation, match="an update is lost"):
        explore(Broken, {})


@pytest.mark.parametrize(
    ("scope", "semantics"),
    [
        pytest.param(scope, semantics, id=f"{scope.name}, {semantics}")
        for scope in SCOPES
        if scope.quick
        for semantics in scope.semantics
    ],
)
def test_no_state_of_the_smallest_scopes_breaks_an_invariant(scope: Searched, semantics: Semantics) -> None:
    explored = scope.explore(semantics)
    assert explored.states > 100
    assert isinstance(explored, Explored)
