"""Marker items beside the ledger's records: which ends of which executions the reconciler has dealt with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

KEPT_SECONDS = 91 * 86_400  # longer than Step Functions keeps a closed execution (90 days)

_MOST_PER_CALL = 100  # keys of one BatchGetItem


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of an execution: a redriven execution can end again, at another time (epoch milliseconds)."""

    execution: str
    stopped_at: int

    @property
    def item_key(self) -> dict[str, Any]:
        return {"pk": {"S": f"execution:{self.execution}"}, "sk": {"S": f"handled#{self.stopped_at}"}}


class HandledEnds:
    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def open_among(self, ends: Sequence[End]) -> list[End]:
        """Those not dealt with yet. What DynamoDB leaves unprocessed is left out: the next run asks again."""
        still_open: list[End] = []
        for start in range(0, len(ends), _MOST_PER_CALL):
            page = ends[start : start + _MOST_PER_CALL]
            answer = self._client.batch_get_item(
                RequestItems={
                    self._table: {
                        "Keys": [end.item_key for end in page],
                        "ConsistentRead": True,
                        "ProjectionExpression": "pk, sk",
                    }
                }
            )
            marked = answer["Responses"].get(self._table, [])
            unprocessed = answer["UnprocessedKeys"].get(self._table, {}).get("Keys", [])
            still_open += [end for end in page if end.item_key not in (*marked, *unprocessed)]
        return still_open

    def add(self, end: End, *, now: int) -> None:
        self._client.put_item(
            TableName=self._table,
            Item={**end.item_key, "expiresAt": {"N": str(now + KEPT_SECONDS)}},
        )
