"""The record of an order in DynamoDB: made at the edge, told by the workflow, read by its caller alone.

Every write but the first is conditioned on the order's random id, and never makes an item: a key that is
used again after its record's expiry is another order, whose record the old one's workflow must not touch.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from botocore.exceptions import ClientError

from idempotency import keys
from idempotency.transitions import expired


class Status(StrEnum):
    ACCEPTED = "ACCEPTED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"  # not for good: a redrive may still finish it


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One caller's use of one key."""

    caller: str
    key: str

    @property
    def id(self) -> str:
        """Different for any two callers and any two keys; what the workflow knows its request by."""
        return keys.digest([self.caller, self.key])

    def execution_name(self, order_id: str) -> str:
        """64 hexadecimal digits: names may have 80 characters, and are taken for 90 days after the end."""
        return keys.digest([self.caller, self.key, order_id])


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """`expires_at` in epoch seconds; `result`, `reason` and `tasks` as JSON text."""

    id: str
    body_hash: str
    location: str
    status: Status
    expires_at: int
    result: str | None = None
    reason: str | None = None
    tasks: str | None = None


class Orders:
    """The only reader and writer of the records. `retention`: seconds from the last change to its expiry."""

    def __init__(self, client: Any, table: str, *, retention: int) -> None:
        self._client = client
        self._table = table
        self._retention = retention

    def accept(self, request: Request, *, order_id: str, body_hash: str, location: str, now: int) -> Order:
        """The order under this key: this one, or the one that is there already."""
        item = {
            **_primary(request.id),
            "caller": {"S": request.caller},
            "key": {"S": request.key},
            "orderId": {"S": order_id},
            "bodyHash": {"S": body_hash},
            "location": {"S": location},
            "status": {"S": Status.ACCEPTED.value},
            **_times(now, self._retention),
        }
        try:
            self._client.put_item(
                TableName=self._table,
                Item=item,
                ConditionExpression="attribute_not_exists(pk) OR expiresAt <= :now",
                ExpressionAttributeValues={":now": {"N": str(now)}},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            stored = _in_the_way(error)
            if not stored:
                raise
            return _order(stored)
        return _order(item)

    def read(self, request: Request, *, now: int) -> Order | None:
        answer = self._client.get_item(TableName=self._table, Key=_primary(request.id), ConsistentRead=True)
        order = _order(answer["Item"]) if "Item" in answer else None
        return None if order is None or expired(order.expires_at, now) else order

    def begin(self, request_id: str, order_id: str, *, now: int) -> bool:
        """RUNNING, from ACCEPTED only. False if the record is gone or another order's."""
        return self._tell(request_id, order_id, now, {"#status": Status.RUNNING}, {Status.ACCEPTED})

    def finish(self, request_id: str, order_id: str, *, now: int, result: str) -> bool:
        """SUCCEEDED, from any status."""
        return self._tell(
            request_id, order_id, now, {"#status": Status.SUCCEEDED, "#result": result}, set(Status)
        )

    def fail(self, request_id: str, order_id: str, *, now: int, reason: str, tasks: str) -> bool:
        """FAILED, unless it has SUCCEEDED."""
        told = {"#status": Status.FAILED, "#reason": reason, "#tasks": tasks}
        return self._tell(request_id, order_id, now, told, set(Status) - {Status.SUCCEEDED})

    def _tell(
        self, request_id: str, order_id: str, now: int, told: dict[str, str], out_of: set[Status]
    ) -> bool:
        """Whether the record is this order's, whatever its status; one that may not change is left alone."""
        values = {f":{name[1:]}": {"S": str(value)} for name, value in told.items()} | {
            f":from{n}": {"S": status.value} for n, status in enumerate(sorted(out_of))
        }
        assignments = ", ".join(f"{name} = :{name[1:]}" for name in told)
        outdated = {"#reason", "#tasks", "#result"} - told.keys()
        times = _times(now, self._retention)
        try:
            self._client.update_item(
                TableName=self._table,
                Key=_primary(request_id),
                UpdateExpression=f"SET {assignments}, updatedAt = :now, expiresAt = :expires_at"
                f" REMOVE {', '.join(sorted(outdated))}",
                ConditionExpression="orderId = :order_id AND #status IN"
                f" ({', '.join(sorted(name for name in values if name.startswith(':from')))})",
                ExpressionAttributeNames={name: name[1:] for name in {"#status", *told, *outdated}},
                ExpressionAttributeValues={
                    **values,
                    ":order_id": {"S": order_id},
                    ":now": times["updatedAt"],
                    ":expires_at": times["expiresAt"],
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            stored = _in_the_way(error)
            return bool(stored) and _order(stored).id == order_id
        return True


def _in_the_way(error: ClientError) -> dict[str, Any]:
    """What a refused condition brought back; the one place where an error of the store is translated."""
    if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
        raise error
    stored: Any = error.response.get("Item")
    return dict(stored or {})


def _times(now: int, retention: int) -> dict[str, Any]:
    return {"updatedAt": {"N": str(now)}, "expiresAt": {"N": str(now + retention)}}


def _primary(request_id: str) -> dict[str, Any]:
    return {"pk": {"S": f"order:{request_id}"}, "sk": {"S": "request"}}


def _order(item: dict[str, Any]) -> Order:
    def text(name: str) -> str | None:
        return item[name]["S"] if name in item else None

    return Order(
        id=item["orderId"]["S"],
        body_hash=item["bodyHash"]["S"],
        location=item["location"]["S"],
        status=Status(item["status"]["S"]),
        expires_at=int(item["expiresAt"]["N"]),
        result=text("result"),
        reason=text("reason"),
        tasks=text("tasks"),
    )
