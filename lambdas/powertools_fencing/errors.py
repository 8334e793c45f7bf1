"""What a fenced layer adds to Powertools' own errors."""

from typing import Literal

from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import DataRecord


class ClaimLost(Exception):  # noqa: N818 - says what happened, as the core's errors do
    """A write was refused because the record is another call's: nothing of it was changed.

    A refused *completion* reaches the caller as the cause of Powertools' IdempotencyPersistenceLayerError:
    the function returned, its effect has happened, and the record will hold what the other call makes of it.
    A refused *deletion* goes to the hook only: the function's own exception is what the caller gets.
    `record` is what stands in the way; None where this call never made a claim.
    """

    def __init__(
        self, idempotency_key: str, write: Literal["completion", "deletion"], record: DataRecord | None
    ) -> None:
        holder = f"{record.status} under another owner" if record else "no claim was made by this call"
        super().__init__(f"{write} of {idempotency_key} refused: {holder}")
        self.idempotency_key = idempotency_key
        self.write = write
        self.record = record


class ResultNotKept(Exception):  # noqa: N818 - as above
    """The function has completed before and is not run again, but its result could not be stored."""

    def __init__(self, idempotency_key: str, reason: str) -> None:
        super().__init__(f"{idempotency_key} is completed, without its result: {reason}")
        self.idempotency_key = idempotency_key
        self.reason = reason
