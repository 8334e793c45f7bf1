"""DynamoDB in this process: atomic conditional writes, which tell a refused writer what stands there.

It offers the calls of boto3's client that our functions use; `ReturnValuesOnConditionCheckFailure` and
consistent reads are taken for granted, since ours ask for them everywhere.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from tests.simulation.aws.expressions import Item, holds, updated

Primary = tuple[tuple[str, str], ...]
Observer = Callable[[str, Item | None, Item | None], None]


class DynamoDB:
    """`keys` are the key attributes of each table. `observe(table, before, after)` is told of every write
    before it is made, while no other can happen.
    """

    def __init__(self, keys: Mapping[str, Sequence[str]]) -> None:
        self._keys = keys
        self._items: defaultdict[str, dict[Primary, Item]] = defaultdict(dict)
        self.observe: Observer = _unheeded
        self.leaves_out: Callable[[], bool] = lambda: False
        """Whether BatchGetItem does so with a key that it was asked for."""

    def items(self, table: str) -> list[Item]:
        return list(self._items[table].values())

    def held(self) -> object:
        """All there is, equal when it is the same."""
        return sorted((table, sorted(items.items(), key=repr)) for table, items in self._items.items())

    def expire(self, *, now: float) -> None:
        """TTL deletes what has expired; AWS does so at any time after the expiry, or days later."""
        for table, items in self._items.items():
            for primary, item in list(items.items()):
                expiry = item.get("expiresAt") or item.get("expiration")  # ours, and Powertools'
                if expiry and int(expiry["N"]) < now:
                    self.observe(table, item, None)
                    del items[primary]

    def get_item(self, *, TableName: str, Key: Item, **_: Any) -> dict[str, Any]:  # noqa: N803
        found = self._items[TableName].get(self._primary(TableName, Key))
        return {"Item": _copied(found)} if found else {}

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        responses, unprocessed = {}, {}
        for table, request in RequestItems.items():
            left = [key for key in request["Keys"] if self.leaves_out()]
            if left:
                unprocessed[table] = {"Keys": left}
            asked = [key for key in request["Keys"] if key not in left]
            found = [self._items[table].get(self._primary(table, key)) for key in asked]
            projected = request.get("ProjectionExpression", "").replace(" ", "").split(",")
            responses[table] = [
                {
                    name: value
                    for name, value in _copied(item).items()
                    if projected == [""] or name in projected
                }
                for item in found
                if item
            ]
        return {"Responses": responses, "UnprocessedKeys": unprocessed}

    def put_item(self, *, TableName: str, Item: Item, **condition: Any) -> dict[str, Any]:  # noqa: N803
        self._write(TableName, Item, lambda _, __: dict(Item), condition, "PutItem")
        return {}

    def update_item(self, *, TableName: str, Key: Item, UpdateExpression: str, **rest: Any) -> dict[str, Any]:  # noqa: N803
        replaced: Item = {}

        def change(before: Item, values: Mapping[str, Any]) -> Item:
            replaced.update(_copied(before))
            names = rest.get("ExpressionAttributeNames", {})
            return {**updated(UpdateExpression, names, before, values), **Key}

        after = self._write(TableName, Key, change, rest, "UpdateItem")
        if rest.get("ReturnValues") == "ALL_OLD":
            return {"Attributes": replaced} if replaced else {}
        return {"Attributes": after}

    def delete_item(self, *, TableName: str, Key: Item, **condition: Any) -> dict[str, Any]:  # noqa: N803
        self._write(TableName, Key, lambda _, __: None, condition, "DeleteItem")
        return {}

    def _write(
        self,
        table: str,
        key: Item,
        change: Callable[[Item, Mapping[str, Any]], Item | None],
        request: dict[str, Any],
        operation: str,
    ) -> Item | None:
        primary = self._primary(table, key)
        before = self._items[table].get(primary)
        names = request.get("ExpressionAttributeNames", {})
        values = request.get("ExpressionAttributeValues", {})
        if not holds(request.get("ConditionExpression"), names, before or {}, values):
            raise _refused(operation, before)
        after = change(before or {}, values)
        self.observe(table, before, after)
        if after is None:
            self._items[table].pop(primary, None)
        else:
            self._items[table][primary] = _copied(after)
        return _copied(after) if after is not None else None

    def _primary(self, table: str, item: Item) -> Primary:
        return tuple((name, item[name]["S"]) for name in self._keys[table])


def _copied(item: Item) -> Item:
    """Our attributes' values are no lists or maps."""
    return {name: dict(value) for name, value in item.items()}


def _unheeded(_table: str, _before: Item | None, _after: Item | None) -> None:
    pass


def _refused(operation: str, stored: Item | None) -> ClientError:
    response: Any = {
        "Error": {"Code": "ConditionalCheckFailedException", "Message": "The conditional request failed"},
        **({"Item": _copied(stored)} if stored else {}),
    }
    return ClientError(response, operation)
