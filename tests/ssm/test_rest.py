"""A deleted name rests for thirty seconds: it can't be created, and it can't be read."""

import pytest

from tests.ssm.conftest import Clock
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.wire import create, read


@pytest.mark.parametrize(
    ("seconds", "answer"), [(0, "ParameterAlreadyExists"), (29.9, "ParameterAlreadyExists")]
)
def test_a_deleted_name_is_refused_although_it_cannot_be_read(
    seconds: float, answer: str, store: StrictParameterStore, clock: Clock
) -> None:
    create(store, "/a")
    store.delete_parameters(Names=["/a"])
    clock.now += seconds
    assert (create(store, "/a"), read(store, "/a")) == (answer, None)


def test_then_it_is_free(store: StrictParameterStore, clock: Clock) -> None:
    create(store, "/a", "old")
    store.delete_parameters(Names=["/a"])
    clock.now += 30
    assert create(store, "/a", "new") == "created"
    assert read(store, "/a") == "new"
    assert [(life.value, life.deleted is None) for life in store.lives["/a"]] == [
        ("old", False),
        ("new", True),
    ]


def test_a_name_that_never_was_deleted_does_not_rest(store: StrictParameterStore) -> None:
    assert store.delete_parameters(Names=["/a"])["InvalidParameters"] == ["/a"]
    assert create(store, "/a") == "created"
