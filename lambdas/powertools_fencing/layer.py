"""Powertools' DynamoDB layer in which every record has an owner, and only the owner ends it."""

import warnings
from typing import Any

from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import DataRecord

from powertools_fencing import calls
from powertools_fencing.records import RecordWithoutResult, why_unserialisable
from powertools_fencing.shared import SharedPersistenceLayer
from powertools_fencing.writes import FencedWrites


class FencedDynamoDBPersistenceLayer(SharedPersistenceLayer, FencedWrites):
    """Takes what `DynamoDBPersistenceLayer` takes, in the same order, and these by keyword:

    owner_attr: the attribute that holds the token of the call that a record belongs to ("owner").
    on_claim_lost: called with a ClaimLost for every refused write, to count it. It must not raise.
    margin_seconds: added to the lease of each claim. It covers the difference between two clocks, and the
        moment for which Lambda lets a function run on after its timeout (powertools-lambda-python#4759).
    longest_call_seconds: the lease of a call whose remaining time is unknown because no Lambda context is
        registered. The default is the longest that Lambda lets a function run.
    """

    def __init__(
        self, *args: Any, margin_seconds: float = 1, longest_call_seconds: float = 900, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.margin_seconds = margin_seconds
        self.longest_call_seconds = longest_call_seconds

    def save_inprogress(self, data: Any, remaining_time_in_millis: int | None = None) -> None:
        if remaining_time_in_millis is None:
            warnings.warn(
                f"Couldn't determine the remaining time left: claiming for {self.longest_call_seconds} s. "
                "Did you call register_lambda_context on IdempotencyConfig?",
                stacklevel=2,
            )
            remaining_time_in_millis = int(self.longest_call_seconds * 1000)
        with calls.claiming(data, self.function_name):
            super().save_inprogress(data, remaining_time_in_millis + int(self.margin_seconds * 1000))

    def save_success(self, data: Any, result: Any) -> None:
        with calls.ending(data) as call:
            if call is None:
                raise self._lost("completion", self.function_name)
            self.function_name = call.prefix
            if reason := why_unserialisable(result):
                self._save_without_result(data, reason)
            else:
                super().save_success(data, result)

    def delete_record(self, data: Any, exception: Exception) -> None:
        with calls.ending(data) as call:
            if call is None:
                self._lost("deletion", self.function_name)
                return
            self.function_name = call.prefix
            super().delete_record(data, exception)

    def _save_without_result(self, data: Any, reason: str) -> None:
        key = self._get_hashed_idempotency_key(data)
        if key is None:
            return
        record = RecordWithoutResult(
            DataRecord(
                idempotency_key=key,
                expiry_timestamp=self._get_expiry_timestamp(),
                payload_hash=self._get_hashed_payload(data),
            ),
            reason,
        )
        self._update_record(record)
