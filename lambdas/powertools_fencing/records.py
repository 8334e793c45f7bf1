"""A record that says done, and can't say with what result."""

import json
from typing import Any

from aws_lambda_powertools.shared.json_encoder import Encoder
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import STATUS_CONSTANTS, DataRecord

from powertools_fencing.errors import ResultNotKept


class RecordWithoutResult(DataRecord):
    """COMPLETED, for the reason given without its result; whoever asks for that gets ResultNotKept."""

    def __init__(self, record: DataRecord, reason: str) -> None:
        super().__init__(
            idempotency_key=record.idempotency_key,
            status=STATUS_CONSTANTS["COMPLETED"],
            expiry_timestamp=record.expiry_timestamp,
            payload_hash=record.payload_hash,
            sort_key=record.sort_key,
        )
        self.reason = reason

    def response_json_as_dict(self) -> Any:
        raise ResultNotKept(self.sort_key or self.idempotency_key, self.reason)


def why_unserialisable(result: Any) -> str | None:
    """Why Powertools can't serialise a result, in words that hold nothing of it; None if it can."""
    try:
        json.dumps(result, cls=Encoder, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        return f"not serialisable: {error}"[:200]
    return None
