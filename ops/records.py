"""The ledger's table as an operator sees it: what waits for a person, and writes on exactly what was seen."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from idempotency.adapters.dynamodb import attributes_of, primary_key, record_of
from idempotency.model import Key, Record, State
from idempotency.transitions import expired
from ops import audit
from ops.store import Stored
from ops.trouble import Trouble

INDEX = "attention"

_SHARDS = 16  # partitions a state: `idempotency.model.attention`
_SEEN = ("owner", "attempt", "state", "updatedAt", "leaseUntil", "unknown")
_CHANGED = ("state", "expiresAt", "updatedAt", "unknown", "unsettled", "fingerprint", "reason", "attention")
_LIVE = "(attribute_not_exists(expiresAt) OR expiresAt > :now)"
_ABANDONED = f"#state = :in_progress AND leaseUntil <= :over AND {_LIVE}"


class Records:
    """Keeps `Store` in the ledger's table."""

    indexed = True

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def read(self, key: Key, *, now: int) -> Stored | None:
        answer = self._client.get_item(TableName=self._table, Key=primary_key(key), ConsistentRead=True)
        stored = _stored(answer["Item"]) if "Item" in answer else None
        return None if stored is None or expired(stored.record.expires_at, now) else stored

    def waiting(self, state: State, *, now: int) -> Iterator[Stored]:
        """From the sparse index, so it costs what it finds; oldest change first within each partition."""
        for query in self._queries(state, now):
            for page in self._client.get_paginator("query").paginate(**query):
                yield from map(_stored, page["Items"])

    def count(self, state: State, *, now: int) -> int:
        pages = (
            page
            for query in self._queries(state, now)
            for page in self._client.get_paginator("query").paginate(**query, Select="COUNT")
        )
        return sum(page["Count"] for page in pages)

    def abandoned(self, *, now: int, margin: int) -> Iterator[Stored]:
        pages = self._client.get_paginator("scan").paginate(
            TableName=self._table,
            FilterExpression=_ABANDONED,
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues={
                ":in_progress": {"S": State.IN_PROGRESS.value},
                ":over": {"N": str(now - margin)},
                ":now": {"N": str(now)},
            },
        )
        for page in pages:
            yield from map(_stored, page["Items"])

    def change(self, seen: Record, wanted: Record, entry: audit.Entry) -> None:
        """A write that is sent again after a lost answer is refused; the refusal shows its own entry."""
        stored, wished = attributes_of(seen), attributes_of(wanted)
        after = {name: wished[name] for name in _CHANGED}
        sets = {name: value for name, value in after.items() if value is not None}
        removes = sorted(after.keys() - sets.keys())
        update = "SET " + ", ".join(f"#{name} = :{name}" for name in sets)
        update += ", #audit = list_append(if_not_exists(#audit, :empty), :entry)"
        if removes:
            update += " REMOVE " + ", ".join(f"#{name}" for name in removes)
        try:
            self._client.update_item(
                TableName=self._table,
                Key=primary_key(seen.key),
                UpdateExpression=update,
                ConditionExpression=" AND ".join(f"#{name} = :seen_{name}" for name in _SEEN),
                ExpressionAttributeNames={f"#{name}": name for name in {*after, *_SEEN, "audit"}},
                ExpressionAttributeValues={
                    **{f":{name}": value for name, value in sets.items()},
                    **{f":seen_{name}": stored[name] for name in _SEEN},
                    ":empty": {"L": []},
                    ":entry": {"L": [entry.stored()]},
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            stands: Any = error.response.get("Item") or {}
            if entry.id not in {each.id for each in audit.entries(stands)}:
                now = stands.get("state", {}).get("S", "gone")
                raise Trouble(f"{seen.key} has changed meanwhile (now {now}): look again") from error

    def _queries(self, state: State, now: int) -> Iterator[dict[str, Any]]:
        for shard in range(_SHARDS):
            yield {
                "TableName": self._table,
                "IndexName": INDEX,
                "KeyConditionExpression": "attention = :attention",
                "FilterExpression": _LIVE,
                "ExpressionAttributeValues": {
                    ":attention": {"S": f"{state}#{shard}"},
                    ":now": {"N": str(now)},
                },
            }


def _stored(item: dict[str, Any]) -> Stored:
    key = Key(pk=item["pk"]["S"], sk=item["sk"]["S"])
    return Stored(record=record_of(key, item), trail=audit.entries(item))
