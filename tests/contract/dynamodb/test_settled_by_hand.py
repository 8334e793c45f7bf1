"""The commands of docs/semantics.md, "When something is in doubt": the ledger understands what they write."""

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config

from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.model import Key, State, Verdict
from tests.contract.engines import TABLE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOW = 1_800_000_000
HAPPENED = "SET #s = :to, expiresAt = :e REMOVE attention, unsettled, reason"
DID_NOT_HAPPEN = "SET #s = :to, expiresAt = :e, #u = :f, unsettled = :f REMOVE attention, reason"


@pytest.fixture
def in_doubt(ledger: DynamoDBLedger, key: Key) -> Key:
    ledger.claim(key, owner="one", now=NOW, lease=60, retention=1_000)
    ledger.doubt(key, owner="one", attempt=1, now=NOW, reason="in-doubt")
    return key


def _settle(dynamodb: "DynamoDBClient", key: Key, *, update: str, to: State) -> None:
    """By a client of its own, as the command line: the engines refuse reserved words."""
    names = {"#s": "state", "#o": "owner"}
    values: dict[str, Any] = {
        ":from": {"S": "IN_DOUBT"},
        ":to": {"S": to.value},
        ":e": {"N": str(NOW + 1_000)},
        ":o": {"S": "one"},
        ":n": {"N": "1"},
    }
    if "#u" in update:
        names["#u"] = "unknown"
        values[":f"] = {"BOOL": False}
    boto3.client("dynamodb", endpoint_url=dynamodb.meta.endpoint_url, config=Config(proxies={})).update_item(
        TableName=TABLE,
        Key={"pk": {"S": key.pk}, "sk": {"S": key.sk}},
        UpdateExpression=update,
        ConditionExpression="#s = :from AND #o = :o AND attempt = :n",
        ExpressionAttributeNames=names,
        ExpressionAttributeValues=values,
    )


def test_what_happened_is_done_for_every_copy_that_comes_back(
    dynamodb: "DynamoDBClient", ledger: DynamoDBLedger, in_doubt: Key
) -> None:
    _settle(dynamodb, in_doubt, update=HAPPENED, to=State.DONE)
    claim = ledger.claim(in_doubt, owner="two", now=NOW + 100, lease=60, retention=1_000)
    assert claim.verdict is Verdict.DONE


def test_what_did_not_happen_is_claimed_anew_without_a_doubt(
    dynamodb: "DynamoDBClient", ledger: DynamoDBLedger, in_doubt: Key
) -> None:
    _settle(dynamodb, in_doubt, update=DID_NOT_HAPPEN, to=State.RELEASED)
    claim = ledger.claim(in_doubt, owner="two", now=NOW + 100, lease=60, retention=1_000)
    assert (claim.verdict, claim.record.attempt, claim.record.unknown) == (Verdict.ACQUIRED, 2, False)


def test_a_record_that_is_no_longer_what_was_seen_is_left_alone(
    dynamodb: "DynamoDBClient", ledger: DynamoDBLedger, in_doubt: Key
) -> None:
    ledger.complete(in_doubt, owner="one", attempt=1, now=NOW + 1, retention=1_000)
    with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException):
        _settle(dynamodb, in_doubt, update=DID_NOT_HAPPEN, to=State.RELEASED)
    record = ledger.read(in_doubt)
    assert record is not None
    assert record.state is State.DONE
