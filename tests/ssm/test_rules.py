"""What Parameter Store refuses: names, values, pages, deletions, one parameter too many."""

import pytest
from botocore.exceptions import ClientError

from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.rules import ARN
from tests.ssm.wire import code, create, listed, read

LONGEST = 1_011 - len(ARN)


@pytest.mark.parametrize(
    "name",
    [
        "/a:b",
        "/a b",
        "/ä",
        "/a/",
        "//a",
        "/",
        "a/b",
        "/a/b\n",
        "/aws",
        "/AWS/x",
        "/awsome",
        "/ssm-x/y",
        "sSm",
    ],
)
def test_a_name_of_anything_else_is_refused(name: str, store: StrictParameterStore) -> None:
    assert create(store, name) == "ValidationException"
    assert store.standing() == {}


@pytest.mark.parametrize("name", ["a", "/a", "/A.b_c-d/1", "/x/aws", "/x/ssm/1", f"/{'x' * (LONGEST - 1)}"])
def test_a_name_within_the_rules_is_taken(name: str, store: StrictParameterStore) -> None:
    assert create(store, name) == "created"
    assert read(store, name) == "v"


def test_a_name_is_at_most_1011_characters_with_its_arn(store: StrictParameterStore) -> None:
    assert create(store, f"/{'x' * LONGEST}") == "ValidationException"


def test_a_hierarchy_has_at_most_fifteen_levels(store: StrictParameterStore) -> None:
    assert create(store, "/x" * 15) == "created"
    assert create(store, "/x" * 16) == "HierarchyLevelLimitExceededException"


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("x" * 4_096, "created"),
        ("x" * 4_097, "ValidationException"),
        ("ä" * 2_048, "created"),
        ("ä" * 2_049, "ValidationException"),
        ("", "ValidationException"),
        ("{{x}}", "ValidationException"),
        ('{"a":{"b":{}}, "c":"{{\n}}"}', "ValidationException"),
        ('{"a":{"b":{}}}', "created"),
        ("}}{{", "created"),
    ],
)
def test_a_value_is_short_and_refers_to_nothing(value: str, answer: str, store: StrictParameterStore) -> None:
    assert create(store, "/a", value) == answer


def test_a_second_creation_is_refused_and_changes_nothing(store: StrictParameterStore) -> None:
    assert create(store, "/a", "first") == "created"
    assert create(store, "/a", "second") == "ParameterAlreadyExists"
    assert read(store, "/a") == "first"


def test_an_account_has_so_many_parameters_and_no_more(store: StrictParameterStore) -> None:
    store.limit = 2
    assert [create(store, f"/{number}") for number in range(3)] == [
        "created",
        "created",
        "ParameterLimitExceeded",
    ]
    assert create(store, "/1") == "ParameterAlreadyExists"
    store.delete_parameters(Names=["/0"])
    assert create(store, "/3") == "created"


@pytest.mark.parametrize("size", [0, 11])
def test_a_page_holds_one_to_ten(size: int, store: StrictParameterStore) -> None:
    with pytest.raises(ClientError) as refused:
        store.get_parameters_by_path(Path="/a", Recursive=False, MaxResults=size)
    assert code(refused) == "ValidationException"


@pytest.mark.parametrize("path", ["a", "/a/", "/a b", "/"])
def test_a_path_begins_with_a_slash_and_ends_with_none(path: str, store: StrictParameterStore) -> None:
    with pytest.raises(ClientError) as refused:
        store.get_parameters_by_path(Path=path, Recursive=False, MaxResults=10)
    assert code(refused) == "ValidationException"


@pytest.mark.parametrize("names", [[], [f"/{number}" for number in range(11)], ["/0", "/0"], ["/a b"]])
def test_a_deletion_names_one_to_ten(names: list[str], store: StrictParameterStore) -> None:
    create(store, "/0")
    with pytest.raises(ClientError) as refused:
        store.delete_parameters(Names=names)
    assert code(refused) == "ValidationException"
    assert read(store, "/0") == "v"


def test_a_deletion_tells_what_it_did_not_find(store: StrictParameterStore) -> None:
    create(store, "/a")
    create(store, "/b")
    answer = store.delete_parameters(Names=["/a", "/c"])
    assert (answer["DeletedParameters"], answer["InvalidParameters"]) == (["/a"], ["/c"])
    assert (read(store, "/a"), listed(store, "/a")) == (None, set())
    assert store.standing() == {"/b": "v"}
