"""Listings: pages in any order, some of them empty, each of its own moment and as stale as it may be."""

from itertools import chain

import pytest
from botocore.exceptions import ClientError

from tests.ssm.conftest import Clock
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.wire import code, create, listed, pages

NAMES = [f"/k/{number}" for number in range(1, 26)]


@pytest.fixture
def names(store: StrictParameterStore) -> list[str]:
    for name in NAMES:
        create(store, name)
    return NAMES


def test_all_pages_together_hold_every_name_once(names: list[str], store: StrictParameterStore) -> None:
    found = pages(store, "/k")
    assert [len(page) for page in found] == [10, 10, 5]
    assert sorted(chain.from_iterable(found)) == sorted(names)


def test_they_are_in_no_order_of_names_or_of_creation(names: list[str], store: StrictParameterStore) -> None:
    (found, *_) = pages(store, "/k")
    assert found not in (names[:10], names[-10:], sorted(names)[:10])


def test_a_listing_is_of_one_level_unless_it_is_recursive(store: StrictParameterStore) -> None:
    for name in ("/k/1", "/k/1/2", "/kk/1", "/k"):
        create(store, name)
    assert listed(store, "/k") == {"/k/1"}
    assert listed(store, "/k", recursive=True) == {"/k/1", "/k/1/2"}


def test_pages_may_be_empty_although_more_follow(names: list[str], clock: Clock) -> None:
    store = StrictParameterStore(clock, seed=3, sparse=0.5)
    for name in names:
        create(store, name)
    found = pages(store, "/k")
    assert [] in found[:-1]
    assert sorted(chain.from_iterable(found)) == sorted(names)


def test_each_page_shows_what_is_there_at_its_own_call(names: list[str], store: StrictParameterStore) -> None:
    first = store.get_parameters_by_path(Path="/k", Recursive=False, MaxResults=10)
    seen = [each["Name"] for each in first["Parameters"]]
    gone = [name for name in names if name not in seen][:10]
    store.delete_parameters(Names=[*seen[:5]])
    store.delete_parameters(Names=gone)
    rest = store.get_parameters_by_path(
        Path="/k", Recursive=False, MaxResults=10, NextToken=first["NextToken"]
    )
    assert {each["Name"] for each in rest["Parameters"]} == set(names) - set(seen) - set(gone)
    assert "NextToken" not in rest


@pytest.mark.parametrize("other", ["/other", "/k"])
def test_a_token_is_good_for_its_own_listing_only(
    other: str, names: list[str], store: StrictParameterStore
) -> None:
    token = store.get_parameters_by_path(Path="/k", Recursive=False, MaxResults=10)["NextToken"]
    with pytest.raises(ClientError) as refused:
        store.get_parameters_by_path(Path=other, Recursive=True, MaxResults=10, NextToken=token)
    assert code(refused) == "InvalidNextToken"


def _what_listings_show(store: StrictParameterStore, clock: Clock) -> set[frozenset[str]]:
    """Within a minute in which 1 goes and 2 comes, in this order."""
    create(store, "/k/1")
    clock.now += 100
    store.delete_parameters(Names=["/k/1"])
    clock.now += 1
    create(store, "/k/2")
    store.staleness = 60
    return {frozenset(listed(store, "/k")) for _ in range(100)}


def test_a_stale_page_shows_what_was_there_a_while_ago(store: StrictParameterStore, clock: Clock) -> None:
    shown = _what_listings_show(store, clock)
    assert {frozenset({"/k/1"}), frozenset({"/k/2"})} <= shown
    assert frozenset({"/k/1", "/k/2"}) not in shown


def test_a_torn_one_shows_what_never_was_there_together(store: StrictParameterStore, clock: Clock) -> None:
    store.torn = True
    assert frozenset({"/k/1", "/k/2"}) in _what_listings_show(store, clock)


@pytest.mark.parametrize("torn", [False, True])
def test_it_is_never_stale_by_more_than_that(torn: bool, store: StrictParameterStore, clock: Clock) -> None:
    store.torn = torn
    _what_listings_show(store, clock)
    clock.now += 60
    assert all(listed(store, "/k") == {"/k/2"} for _ in range(50))
