"""The ledger in Parameter Store as an operator sees it: a change is the creation of a key's next number."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from idempotency.adapters.ssm import parameters
from idempotency.adapters.ssm.steps import Step, decode, encode, fields, text
from idempotency.model import Key, Record, State
from idempotency.transitions import expired
from ops.audit import Entry
from ops.store import Stored
from ops.trouble import Trouble

_MAX_WHY = 200  # characters: a parameter stops at 4,096, which the record needs, too


class NumberedRecords:
    """Keeps `Store` below `prefix`. A key's trail goes with its older numbers, which the Sweeper deletes."""

    indexed = False

    def __init__(self, client: Any, prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def read(self, key: Key, *, now: int) -> Stored | None:
        steps = self._steps(key)
        return _stored(key, steps, now) if steps else None

    def waiting(self, state: State, *, now: int) -> Iterator[Stored]:
        return (stored for stored in self._all(now) if stored.record.state is state)

    def count(self, state: State, *, now: int) -> int:
        return sum(1 for _ in self.waiting(state, now=now))

    def abandoned(self, *, now: int, margin: int) -> Iterator[Stored]:
        for stored in self.waiting(State.IN_PROGRESS, now=now):
            if expired(stored.record.lease_until + margin, now):
                yield stored

    def change(self, seen: Record, wanted: Record, entry: Entry) -> None:
        """Of two that compete for a number one is created, and the other is refused."""
        entry = replace(entry, why=entry.why[:_MAX_WHY])
        steps = self._steps(seen.key)
        if entry in _trail(steps):
            return
        latest = decode(seen.key, max(steps), steps[max(steps)]) if steps else None
        if latest is None or latest.record != seen:
            raise _moved(seen.key)
        # What somebody was told of and what stays as it is need not be told again.
        note = latest.note if wanted.state is seen.state else None
        step = Step(number=latest.number + 1, record=wanted, note=note)
        value = text({**fields(encode(step)), "audit": json.dumps(asdict(entry))})
        name = f"{self._path(seen.key)}/{step.number}"
        if not parameters.create(self._client, name, value) and parameters.read(self._client, name) != value:
            raise _moved(seen.key)

    def _steps(self, key: Key) -> dict[int, str]:
        return {
            int(each["Name"].rpartition("/")[2]): each["Value"]
            for each in parameters.listed(self._client, self._path(key))
        }

    def _path(self, key: Key) -> str:
        return f"{self._prefix}/{key.digest()}"

    def _all(self, now: int) -> Iterator[Stored]:
        """All keys. A parameter shows the first hundred characters of its key: longer ones end there."""
        keys: dict[str, dict[int, str]] = {}
        token, more = None, True
        while more:
            page, token = parameters.page(self._client, self._prefix, token, recursive=True)
            for each in page:
                path, _, number = each["Name"].rpartition("/")
                keys.setdefault(path, {})[int(number)] = each["Value"]
            more = token is not None
        for steps in keys.values():
            sk, _, pk = fields(steps[max(steps)])["key"].partition("/")
            if stored := _stored(Key(pk=pk, sk=sk), steps, now):
                yield stored


def _stored(key: Key, steps: dict[int, str], now: int) -> Stored | None:
    latest = decode(key, max(steps), steps[max(steps)])
    if latest.swept or expired(latest.record.expires_at, now):
        return None
    return Stored(record=latest.record, trail=_trail(steps))


def _trail(steps: dict[int, str]) -> tuple[Entry, ...]:
    told = (fields(steps[number]).get("audit") for number in sorted(steps))
    return tuple(Entry(**json.loads(each)) for each in told if each)


def _moved(key: Key) -> Trouble:
    return Trouble(f"{key} has changed meanwhile: look again")
