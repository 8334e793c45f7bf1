"""What each event costs in calls, and that no other error of the store is taken for an answer."""

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.errors import LeaseLost
from idempotency.model import Key, Policy
from tests.contract.engines import TABLE
from tests.contract.lives import (
    AT_MOST_ONCE,
    COLUMNS,
    IDEMPOTENT_DOWNSTREAM,
    MARKS,
    NOW,
    OTHER,
    RETENTION,
    Worker,
)


def test_a_new_event_costs_two_writes(calls: list[str], worker: Worker) -> None:
    worker.claim()
    worker.complete()
    assert calls == ["UpdateItem"] * 2


@pytest.mark.parametrize("column", ["L", "DONE", "FAILED", "IN_DOUBT"])
def test_a_duplicate_costs_one(column: str, calls: list[str], worker: Worker) -> None:
    COLUMNS[column](worker)
    calls.clear()
    Worker(worker.ledger, worker.key, OTHER).claim()
    assert calls == ["UpdateItem"]


@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
def test_a_takeover_costs_one(policy: Policy, calls: list[str], worker: Worker) -> None:
    COLUMNS["X"](worker)
    calls.clear()
    assert Worker(worker.ledger, worker.key, OTHER).claim().held
    assert calls == ["UpdateItem"]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_costs_one_whether_it_counts_or_not(mark: str, calls: list[str], worker: Worker) -> None:
    worker.claim()
    calls.clear()
    with pytest.raises(LeaseLost):
        MARKS[mark](Worker(worker.ledger, worker.key, OTHER))
    assert calls == ["UpdateItem"]
    MARKS[mark](worker)
    assert calls == ["UpdateItem"] * 2


@pytest.mark.parametrize("column", ["R", "expired"])
def test_a_settled_record_is_claimed_anew_with_one(column: str, calls: list[str], worker: Worker) -> None:
    COLUMNS[column](worker)
    calls.clear()
    assert Worker(worker.ledger, worker.key, OTHER).claim().held
    assert calls == ["UpdateItem"]


def test_an_owner_that_claims_its_released_event_with_other_content_needs_one_too(
    calls: list[str], worker: Worker
) -> None:
    worker.fingerprint = "content"
    COLUMNS["R"](worker)
    calls.clear()
    worker.fingerprint = "other content"
    assert worker.claim().held
    assert calls == ["UpdateItem"]


def test_no_path_but_read_reads(calls: list[str], worker: Worker) -> None:
    """The two writes that know what they replace too: they learn it from the refusal."""
    worker.claim(now=NOW - RETENTION)
    worker.claim()
    worker.renew(retried=True)
    worker.fail()
    assert set(calls) == {"UpdateItem"}
    assert len(calls) == 6  # four events, of which the second and the last took two


@pytest.mark.parametrize(
    "code",
    [
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
        "AccessDeniedException",
        "ResourceNotFoundException",
        "InternalServerError",
        "ValidationException",
    ],
)
@pytest.mark.parametrize("call", ["claim", *MARKS])
def test_any_other_error_of_the_store_propagates(code: str, call: str, key: Key) -> None:
    """Fail closed: not claimed, not marked."""
    client = boto3.client("dynamodb")
    with Stubber(client) as stubbed:
        stubbed.add_client_error("update_item", code)
        worker = Worker(DynamoDBLedger(client, TABLE, AT_MOST_ONCE), key)
        with pytest.raises(ClientError, match=code):
            worker.claim() if call == "claim" else MARKS[call](worker)
        stubbed.assert_no_pending_responses()
