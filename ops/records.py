"""The ledger's table as an operator sees it: what waits for a person, and writes on exactly what was seen."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from idempotency.model import Key, Record, State
from idempotency.transitions import expired
from ops import audit
from ops.store import Stored
from ops.trouble import Trouble

INDEX = "attention"

_SHARDS = 16  # partitions a state: `idempotency.model.attention`
_SEEN = {"owner": "S", "attempt": "N", "state": "S", "updatedAt": "N", "leaseUntil": "N", "unknown": "BOOL"}
_LIVE = "(attribute_not_exists(expiresAt) OR expiresAt > :now)"
_ABANDONED = f"#state = :in_progress AND leaseUntil <= :over AND {_LIVE}"


class Records:
    """Keeps `Store` in the ledger's table."""

    indexed = True

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def read(self, key: Key, *, now: int) -> Stored | None:
        answer = self._client.get_item(TableName=self._table, Key=_primary(key), ConsistentRead=True)
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
        after = _after(wanted)
        sets = {name: value for name, value in after.items() if value is not None}
        removes = sorted(after.keys() - sets.keys())
        update = "SET " + ", ".join(f"#{name} = :{name}" for name in sets)
        update += ", #audit = list_append(if_not_exists(#audit, :empty), :entry)"
        if removes:
            update += " REMOVE " + ", ".join(f"#{name}" for name in removes)
        before = _before(seen)
        try:
            self._client.update_item(
                TableName=self._table,
                Key=_primary(seen.key),
                UpdateExpression=update,
                ConditionExpression=" AND ".join(f"#{name} = :seen_{name}" for name in _SEEN),
                ExpressionAttributeNames={f"#{name}": name for name in {*after, *_SEEN, "audit"}},
                ExpressionAttributeValues={
                    **{f":{name}": value for name, value in sets.items()},
                    **{f":seen_{name}": value for name, value in before.items()},
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


def _primary(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}


def _before(seen: Record) -> dict[str, Any]:
    return {
        "owner": {"S": seen.owner},
        "attempt": {"N": str(seen.attempt)},
        "state": {"S": seen.state.value},
        "updatedAt": {"N": str(seen.updated_at)},
        "leaseUntil": {"N": str(seen.lease_until)},
        "unknown": {"BOOL": seen.unknown},
    }


def _after(wanted: Record) -> dict[str, Any]:
    """What an operator changes, as the ledger stores it; None for an attribute that has to be absent.

    `unsettled` is what the next claim inherits as its `unknown`; nothing is claimed after DONE.
    """

    def text(value: str | None) -> dict[str, str] | None:
        return None if value is None else {"S": value}

    return {
        "state": text(wanted.state.value),
        "expiresAt": {"N": str(wanted.expires_at)},
        "updatedAt": {"N": str(wanted.updated_at)},
        "unknown": {"BOOL": wanted.unknown},
        "unsettled": None if wanted.state is State.DONE else {"BOOL": wanted.unknown},
        "fingerprint": text(wanted.fingerprint),
        "reason": text(wanted.reason),
        "attention": text(wanted.attention),
    }


def _stored(item: dict[str, Any]) -> Stored:
    def text(name: str) -> str | None:
        return item[name]["S"] if name in item else None

    record = Record(
        key=Key(pk=item["pk"]["S"], sk=item["sk"]["S"]),
        owner=item["owner"]["S"],
        attempt=int(item["attempt"]["N"]),
        state=State(item["state"]["S"]),
        lease_until=int(item["leaseUntil"]["N"]),
        expires_at=int(item["expiresAt"]["N"]) if "expiresAt" in item else None,
        updated_at=int(item["updatedAt"]["N"]),
        unknown=item["unknown"]["BOOL"],
        fingerprint=text("fingerprint"),
        result=text("result"),
        reason=text("reason"),
    )
    return Stored(record=record, trail=audit.entries(item))
