"""Powertools Idempotency with fencing: only the call that holds a record completes or deletes it.

Needs Powertools, botocore and nothing else of this repository; docs/powertools.md says how it is used.
"""

from powertools_fencing.errors import ClaimLost, ResultNotKept
from powertools_fencing.layer import FencedDynamoDBPersistenceLayer

__all__ = ["ClaimLost", "FencedDynamoDBPersistenceLayer", "ResultNotKept"]
