"""One delivery on its way through the workflow: the key it carries, and what its guard said of it."""

from typing import Any

from idempotency.model import Key

DEFAULT_NAMESPACE = "ingestion"

# Why a message is dead-lettered although its event is in progress: its copy may be the only one.
STILL_IN_PROGRESS = "still-in-progress"


def key_of(delivery: dict[str, Any]) -> Key:
    """The business key, or, where the workflow was given none, the id of the message."""
    pk = delivery.get("businessKey") or f"sqs:{delivery['messageId']}"
    return Key(pk=pk, sk=delivery.get("namespace") or DEFAULT_NAMESPACE)
