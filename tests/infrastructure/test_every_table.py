"""Promises about every table, whatever it holds."""

import pytest

from tests.infrastructure.synthesis import WORKLOADS, Resource

# By workload: the tables' keys, and the attribute that ends a record.
TABLES = {
    "ingestion": {("pk", "sk"): "expiresAt"},
    "charges": {("pk", "sk"): "expiresAt"},
    "registrations": {},
    "orders": {("pk", "sk"): "expiresAt", ("id",): "expiration"},
}


def tables(workload: str, stage: str = "dev") -> list[Resource]:
    return [table for _, table in WORKLOADS[workload](stage).of_type("AWS::DynamoDB::GlobalTable")]


@pytest.fixture(params=WORKLOADS)
def workload(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_records_have_these_keys_and_expire_by_their_own_attribute(workload: str) -> None:
    found = {}
    for table in tables(workload):
        assert table["TimeToLiveSpecification"]["Enabled"] is True
        keys = tuple(each["AttributeName"] for each in table["KeySchema"])
        found[keys] = table["TimeToLiveSpecification"]["AttributeName"]
    assert found == TABLES[workload]


def test_keys_are_texts(workload: str) -> None:
    for table in tables(workload):
        types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
        assert {types[each["AttributeName"]] for each in table["KeySchema"]} == {"S"}


def test_capacity_is_on_demand(workload: str) -> None:
    assert {table["BillingMode"] for table in tables(workload)} <= {"PAY_PER_REQUEST"}


def test_every_table_can_be_restored_to_any_point_in_time(workload: str) -> None:
    for table in tables(workload):
        [replica] = table["Replicas"]
        assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


@pytest.mark.parametrize(("stage", "protected"), [("dev", False), ("prod", True), ("sandbox", False)])
def test_only_the_tables_of_prod_are_protected_from_deletion(
    workload: str, stage: str, protected: bool
) -> None:
    for table in tables(workload, stage):
        [replica] = table["Replicas"]
        assert replica["DeletionProtectionEnabled"] is protected
