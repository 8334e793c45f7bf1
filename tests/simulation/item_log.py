"""What is true of every item of a ledger's table, held against each write before it is made."""

from idempotency.adapters import dynamodb
from idempotency.model import NEEDS_ATTENTION, Key, Record, State
from tests.simulation.aws.expressions import Item
from tests.simulation.books import Books
from tests.simulation.scheduler import Scheduler

Told = Item | None


class ItemLog:
    """Observes a table, and tells the books what becomes of each record."""

    def __init__(self, scheduler: Scheduler, books: Books) -> None:
        self._scheduler = scheduler
        self._books = books

    def __call__(self, _table: str, before: Told, after: Told) -> None:
        item = after or before
        assert item
        if item["pk"]["S"].startswith("execution:"):
            return  # a marker of the Reconciler's
        key = Key(pk=item["pk"]["S"], sk=item["sk"]["S"])
        record = _record(key, after)
        if record and after:
            self._hold_attributes(record, after)
            self._books.becomes(_record(key, before), record)
        else:
            self._deleted(key, _record(key, before))

    def _hold_attributes(self, record: Record, item: Item) -> None:
        """`attention` keeps the sparse index sparse; `unsettled` is what the next claim inherits."""
        waits = record.state in NEEDS_ATTENTION
        if ("attention" in item) is not waits:
            self._scheduler.fail(f"{record.key.pk} is {record.state}, attention {item.get('attention')}")
        unsettled = record.unknown or record.state in (State.IN_PROGRESS, State.IN_DOUBT)
        if record.state is not State.DONE and item.get("unsettled") != {"BOOL": unsettled}:
            self._scheduler.fail(f"{record.key.pk} is {record.state}, unsettled {item.get('unsettled')}")

    def _deleted(self, key: Key, before: Record | None) -> None:
        if self._scheduler.running != "ttl" or before is None or not self._books.over(before):
            self._scheduler.fail(f"{key.pk} is deleted")
        self._books.standing.pop(key, None)


def _record(key: Key, item: Told) -> Record | None:
    return dynamodb.record_of(key, item) if item else None
