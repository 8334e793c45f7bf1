"""Promises about the table of claims."""

import pytest

from tests.infrastructure.synthesis import QUEUED, Resource


@pytest.fixture(params=QUEUED)
def table(request: pytest.FixtureRequest) -> Resource:
    made = QUEUED[request.param]()
    return made.properties(made.stack.ledger.table)


def test_records_are_keyed_by_event_and_namespace(table: Resource) -> None:
    assert _keys(table["KeySchema"]) == {"HASH": "pk", "RANGE": "sk"}


def test_what_waits_for_a_person_is_indexed(table: Resource) -> None:
    [index] = table["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "attention"
    assert _keys(index["KeySchema"]) == {"HASH": "attention", "RANGE": "updatedAt"}
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    assert types == {"pk": "S", "sk": "S", "attention": "S", "updatedAt": "N"}


def _keys(schema: list[dict[str, str]]) -> dict[str, str]:
    return {each["KeyType"]: each["AttributeName"] for each in schema}
