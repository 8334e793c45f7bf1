"""The three writes of a record, each conditioned on who holds it."""

import logging
import time
from collections.abc import Callable
from typing import Any, Literal

from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyItemAlreadyExistsError
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import STATUS_CONSTANTS, DataRecord
from botocore.exceptions import ClientError

from powertools_fencing import calls
from powertools_fencing.errors import ClaimLost
from powertools_fencing.records import RecordWithoutResult

_logger = logging.getLogger(__name__)

_FREE = "attribute_not_exists(#id)"
_EXPIRED = "#expiry < :now"
_LEASE_OVER = "attribute_exists(#in_progress_expiry) AND #in_progress_expiry < :now_in_millis"
_CLAIMABLE = f"{_FREE} OR {_EXPIRED} OR (#status = :in_progress AND {_LEASE_OVER})"

# Where there is no record, a completion writes one: nobody loses his, and the next call replays the result
# instead of doing it all again. A deletion that finds nothing may be its own, sent again by the SDK.
_MINE = f"{_FREE} OR #owner = :owner"


class _Conflict(Exception):  # noqa: N818 - an answer of the store, not an error
    def __init__(self, item: dict[str, Any] | None) -> None:
        self.item = item


class FencedWrites(DynamoDBPersistenceLayer):
    """Errors of the store other than a refused condition propagate as botocore raised them."""

    def __init__(
        self,
        *args: Any,
        owner_attr: str = "owner",
        on_claim_lost: Callable[[ClaimLost], None] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.owner_attr = owner_attr
        self.not_kept_attr = f"{self.data_attr}_not_kept"
        self.on_claim_lost = on_claim_lost

    def _put_record(self, data_record: DataRecord) -> None:
        now = time.time()
        item: dict[str, Any] = {
            **self._get_key(data_record.idempotency_key),
            self.status_attr: {"S": data_record.status},
            self.expiry_attr: {"N": str(data_record.expiry_timestamp)},
            self.in_progress_expiry_attr: {"N": str(data_record.in_progress_expiry_timestamp)},
            self.owner_attr: {"S": calls.current().owner},
        }
        if data_record.payload_hash:
            item[self.validation_key_attr] = {"S": data_record.payload_hash}
        try:
            self._write(
                self.client.put_item,
                Item=item,
                ConditionExpression=_CLAIMABLE,
                ExpressionAttributeNames={
                    "#id": self.key_attr,
                    "#expiry": self.expiry_attr,
                    "#in_progress_expiry": self.in_progress_expiry_attr,
                    "#status": self.status_attr,
                },
                ExpressionAttributeValues={
                    ":now": {"N": str(int(now))},
                    ":now_in_millis": {"N": str(int(now * 1000))},
                    ":in_progress": {"S": STATUS_CONSTANTS["INPROGRESS"]},
                },
            )
        except _Conflict as conflict:
            if conflict.item is None:
                raise IdempotencyItemAlreadyExistsError from conflict
            if conflict.item.get(self.owner_attr) == item[self.owner_attr]:
                return  # our own first try, whose answer was lost
            stored = self._item_to_data_record(conflict.item)
            self._validate_payload(data_record, stored)
            self._save_to_cache(stored)
            raise IdempotencyItemAlreadyExistsError(old_data_record=stored) from conflict

    def _update_record(self, data_record: DataRecord) -> None:
        try:
            self._complete(data_record)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ValidationException":
                raise
            refused = (
                f"{len(data_record.response_data)} characters refused: {error.response['Error']['Message']}"
            )
            self._complete(RecordWithoutResult(data_record, refused))

    def _complete(self, data_record: DataRecord) -> None:
        names = {"#status": self.status_attr, "#expiry": self.expiry_attr, "#owner": self.owner_attr}
        values: dict[str, Any] = {
            ":status": {"S": data_record.status},
            ":expiry": {"N": str(data_record.expiry_timestamp)},
            ":owner": {"S": calls.current().owner},
        }
        if isinstance(data_record, RecordWithoutResult):
            _logger.warning("%s: result not kept: %s", data_record.idempotency_key, data_record.reason)
            names["#result"], values[":result"] = self.not_kept_attr, {"S": data_record.reason}
        else:
            names["#result"], values[":result"] = self.data_attr, {"S": data_record.response_data}
        if data_record.payload_hash:
            names["#validation"], values[":validation"] = (
                self.validation_key_attr,
                {"S": data_record.payload_hash},
            )
        try:
            self._write(
                self.client.update_item,
                Key=self._get_key(data_record.idempotency_key),
                UpdateExpression="SET " + ", ".join(f"{name} = :{name[1:]}" for name in names),
                ConditionExpression=_MINE,
                ExpressionAttributeNames={"#id": self.key_attr} | names,
                ExpressionAttributeValues=values,
            )
        except _Conflict as conflict:
            raise self._lost("completion", data_record.idempotency_key, conflict.item) from conflict

    def _delete_record(self, data_record: DataRecord) -> None:
        try:
            self._write(
                self.client.delete_item,
                Key=self._get_key(data_record.idempotency_key),
                ConditionExpression=_MINE,
                ExpressionAttributeNames={"#id": self.key_attr, "#owner": self.owner_attr},
                ExpressionAttributeValues={":owner": {"S": calls.current().owner}},
            )
        except _Conflict as conflict:
            self._lost("deletion", data_record.idempotency_key, conflict.item)

    def _lost(
        self, write: Literal["completion", "deletion"], key: str, item: dict[str, Any] | None = None
    ) -> ClaimLost:
        lost = ClaimLost(key, write, self._item_to_data_record(item) if item else None)
        _logger.warning("%s", lost)
        if self.on_claim_lost:
            self.on_claim_lost(lost)
        return lost

    def _item_to_data_record(self, item: dict[str, Any]) -> DataRecord:
        record = super()._item_to_data_record(item)
        if self.not_kept_attr in item:
            return RecordWithoutResult(record, item[self.not_kept_attr]["S"])
        return record

    def _write(self, call: Callable[..., Any], **request: Any) -> None:
        """The one place where an error of the store is translated."""
        try:
            call(TableName=self.table_name, ReturnValuesOnConditionCheckFailure="ALL_OLD", **request)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            stored: Any = error.response.get("Item")
            raise _Conflict(stored) from error
