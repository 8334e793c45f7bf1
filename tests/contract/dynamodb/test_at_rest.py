"""The item as it lies in the table: its attributes, TTL's number, the operators' sparse index."""

from typing import TYPE_CHECKING

import pytest

from idempotency.model import Policy, Verdict
from tests.contract.engines import TABLE, item
from tests.contract.lives import COLUMNS, IDEMPOTENT_DOWNSTREAM, LEASE, NOW, OTHER, RETENTION, Worker

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.mark.parametrize("column", [column for column in COLUMNS if column not in ("absent", "expired")])
def test_what_is_at_rest_in_each_state(column: str, dynamodb: "DynamoDBClient", worker: Worker) -> None:
    worker.fingerprint = "content"
    COLUMNS[column](worker)
    stored = item(dynamodb, worker.key)
    assert stored is not None
    common = {
        "pk",
        "sk",
        "owner",
        "attempt",
        "state",
        "leaseUntil",
        "expiresAt",
        "updatedAt",
        "unknown",
        "fingerprint",
    }
    own = {
        "R": {"unsettled", "reason", "attention"},
        "L": {"unsettled"},
        "X": {"unsettled"},
        "DONE": {"result"},
        "FAILED": {"unsettled", "reason", "attention"},
        "IN_DOUBT": {"unsettled", "reason", "attention"},
    }
    assert stored.keys() == (common | own[column]) - ({"expiresAt"} if column == "IN_DOUBT" else set())


@pytest.mark.parametrize("column", ["L", "DONE", "FAILED", "R"])
def test_the_ttl_attribute_is_a_number_of_seconds(
    column: str, dynamodb: "DynamoDBClient", worker: Worker
) -> None:
    COLUMNS[column](worker)
    stored = item(dynamodb, worker.key)
    assert stored is not None
    assert stored["expiresAt"] == {"N": str(worker.read().expires_at)}
    assert NOW < int(stored["expiresAt"]["N"]) <= NOW + RETENTION


@pytest.mark.parametrize(
    ("column", "state"), [("R", "RELEASED"), ("FAILED", "FAILED"), ("IN_DOUBT", "IN_DOUBT")]
)
def test_operators_find_what_needs_attention_in_the_sparse_index(
    column: str, state: str, dynamodb: "DynamoDBClient", worker: Worker
) -> None:
    COLUMNS[column](worker)
    partition = f"{state}#{int(worker.key.digest(), 16) % 16}"
    found = dynamodb.query(
        TableName=TABLE,
        IndexName="attention",
        KeyConditionExpression="attention = :partition",
        ExpressionAttributeValues={":partition": {"S": partition}},
    )["Items"]
    assert worker.key.pk in [each["pk"]["S"] for each in found]


@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
@pytest.mark.parametrize("column", ["R", "IN_DOUBT"])
def test_a_claim_takes_the_event_out_of_the_index(
    column: str, policy: Policy, dynamodb: "DynamoDBClient", worker: Worker
) -> None:
    COLUMNS[column](worker)
    assert Worker(worker.ledger, worker.key, OTHER).claim().verdict is Verdict.ACQUIRED
    stored = item(dynamodb, worker.key)
    assert stored is not None
    assert not stored.keys() & {"attention", "reason", "result"}


def test_the_mark_of_an_event_that_failed_on_an_unknown_record_stands_in_the_index_of_doubt(
    dynamodb: "DynamoDBClient", worker: Worker
) -> None:
    worker.claim()
    worker.renew(retried=True)
    worker.fail()
    stored = item(dynamodb, worker.key)
    assert stored is not None
    assert stored["attention"]["S"].startswith("IN_DOUBT#")
    assert "expiresAt" not in stored


def test_lease_and_margin_are_kept_apart_at_rest(dynamodb: "DynamoDBClient", worker: Worker) -> None:
    """The margin is the taker's to grant, not the owner's to have."""
    worker.claim()
    stored = item(dynamodb, worker.key)
    assert stored is not None
    assert stored["leaseUntil"] == {"N": str(NOW + LEASE)}
