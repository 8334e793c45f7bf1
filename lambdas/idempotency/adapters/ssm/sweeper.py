"""Removes keys past their retention, which parameters don't do by themselves, and numbers nobody needs.

A key goes in four runs. The first takes it like anybody, by creating its next number, as SWEPT: whoever
claims it from then on is answered in progress. `staleness` later a run deletes the numbers below, the next
one puts CLEARED on top, and `staleness` later another deletes what is left. So nobody who begins the key anew
is shown a number of its former life, and the names have had the rest that they need. Whatever a run leaves
undone, killed or out of time, the next one finds in its own listing.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from idempotency.adapters.ssm.ledger import Pause
from idempotency.adapters.ssm.parameters import PAGE, Busy, busy_or, create, page, read
from idempotency.adapters.ssm.steps import Note, fields, text
from idempotency.ledger import Clock
from idempotency.transitions import expired

T = TypeVar("T")

# A step carries the time at which its call began, in a function that lives for 15 minutes at most.
_LONGEST_CALL_SECONDS = 900

_PAUSES = (0.5, 1, 2, 4, 8)  # seconds between tries of what the store was too busy for
_STEP = re.compile(r"(?P<key>[0-9a-f]{64})/(?P<number>[1-9][0-9]*)")


@dataclass(slots=True, kw_only=True)
class Sweep:
    """What a run did. `parameters`: how many there are below the prefix now; `swept`: keys taken.

    `failed` names what could not be dealt with; the next run tries again.
    """

    parameters: int = 0
    swept: int = 0
    deleted: int = 0
    failed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Log:
    """A key's steps by number, as this run listed them; `settled` says which every listing shows."""

    path: str
    steps: dict[int, dict[str, Any]]
    settled: frozenset[int]

    @property
    def last(self) -> int:
        return max(self.steps)

    @property
    def swept(self) -> bool:
        return self._note(self.last) in (Note.SWEPT, Note.CLEARED)

    def follow_up(self, now: int) -> Note | None:
        """What the sweeper has to put on top of it. Never on IN_DOUBT, which has no end."""
        if not self.swept:
            return Note.SWEPT if expired(self.steps[self.last].get("expiresAt"), now) else None
        alone = len(self.steps) == 1 and self._note(self.last) is Note.SWEPT
        return Note.CLEARED if alone and self.settled else None

    @property
    def unneeded(self) -> list[str]:
        """Settled numbers below a settled one. A fresh one may be the key's next life, and what is above it
        a number that was deleted, but that the listing still shows; so may all be where it shows CLEARED.
        """
        if any(self._note(number) is Note.CLEARED for number in self.steps):
            return []
        top = max(self.settled, default=0)
        return [self.name(number) for number in sorted(self.settled) if number < top]

    @property
    def finished(self) -> bool:
        """Whether nothing but the sweeper's own is left of the key."""
        own = all(self._note(number) in (Note.SWEPT, Note.CLEARED) for number in self.steps)
        return own and self._note(self.last) is Note.CLEARED and set(self.steps) == self.settled

    def name(self, number: int) -> str:
        return f"{self.path}/{number}"

    def _note(self, number: int) -> Note | None:
        note = self.steps.get(number, {}).get("note")
        return Note(note) if note else None


class Sweeper:
    """One run. Runs must not overlap, and no caller of the ledger may live for `staleness` minus a run.

    `deleter` is an SSM client that never repeats a call by itself: a delete that arrives late would remove
    what was created meanwhile. `enough_time` says whether one more call may be begun.
    """

    def __init__(
        self,
        reader: Any,
        deleter: Any,
        prefix: str,
        *,
        clock: Clock,
        pause: Pause,
        enough_time: Callable[[], bool],
        staleness: int = 3600,
    ) -> None:
        self._reader = reader
        self._deleter = deleter
        self._prefix = prefix
        self._clock = clock
        self._pause = pause
        self._enough_time = enough_time
        self._staleness = staleness
        self._sweep = Sweep()

    def run(self) -> Sweep:
        """Raises what the store raises while it lists: half a listing says nothing of any key."""
        now = self._clock()
        logs = self._logs(now)
        for log in logs:
            if note := log.follow_up(now):
                self._put_on_top(log, note)
        unneeded = [name for log in logs for name in log.unneeded]
        for start in range(0, len(unneeded), PAGE):
            self._delete(unneeded[start : start + PAGE])
        for log in logs:
            if log.finished:
                names = [log.name(number) for number in sorted(log.steps)]
                self._delete(names, provided=partial(self._stand, log, log.steps))
        return self._sweep

    def _logs(self, now: int) -> list[_Log]:
        """Keys with a step that can't be read are left alone."""
        found: defaultdict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
        unreadable = set()
        for parameter in self._listed():
            self._sweep.parameters += 1
            place = _STEP.fullmatch(parameter["Name"].removeprefix(f"{self._prefix}/"))
            step = _readable(parameter["Value"])
            if place and step:
                found[place["key"]][int(place["number"])] = step
                continue
            self._sweep.failed.append(f"{parameter['Name']}: no step of a ledger")
            if place:
                unreadable.add(place["key"])
        age = self._staleness + _LONGEST_CALL_SECONDS
        return [
            _Log(
                f"{self._prefix}/{key}",
                steps,
                settled=frozenset(n for n, step in steps.items() if expired(step["updatedAt"] + age, now)),
            )
            for key, steps in found.items()
            if key not in unreadable
        ]

    def _listed(self) -> Iterator[dict[str, Any]]:
        token = None
        while True:
            parameters, token = self._patiently(
                partial(page, self._reader, self._prefix, token, recursive=True)
            )
            yield from parameters
            if token is None:
                return

    def _put_on_top(self, log: _Log, note: Note) -> None:
        """If somebody claims the key first, it stays."""
        step = log.steps[log.last] | {"updatedAt": self._clock(), "note": note}
        name = log.name(log.last + 1)
        stands = partial(self._stand, log, {log.last: log.steps[log.last]})
        if self._attempt(name, lambda: stands() and create(self._reader, name, text(step))):
            self._sweep.swept += note is Note.SWEPT
            self._sweep.parameters += 1

    def _stand(self, log: _Log, steps: Mapping[int, dict[str, Any]]) -> bool:
        """Asked right before a step that rests on these: a listing may show numbers of a life that is over.

        A name that stands can't have been deleted and created again within the rest that names need.
        """
        return all(
            _readable(read(self._reader, log.name(number)) or "") == step for number, step in steps.items()
        )

    def _delete(self, names: Sequence[str], *, provided: Callable[[], bool] = lambda: True) -> None:
        if self._attempt(names[0], lambda: provided() and self._gone(names)):
            self._sweep.deleted += len(names)
            self._sweep.parameters -= len(names)

    def _gone(self, names: Sequence[str]) -> bool:
        try:
            self._deleter.delete_parameters(Names=list(names))
        except ClientError as error:
            raise busy_or(error) from error
        return True

    def _attempt(self, name: str, call: Callable[[], bool]) -> bool:
        """A step of the run that may fail without keeping the others from being done."""
        if not self._enough_time():
            return False
        try:
            return self._patiently(call)
        except (BotoCoreError, ClientError, Busy) as error:
            self._sweep.failed.append(f"{name}: {type(error).__name__}")
            return False

    def _patiently(self, call: Callable[[], T]) -> T:
        for seconds in _PAUSES:
            try:
                return call()
            except Busy:
                self._pause(seconds)
        return call()


def _readable(value: str) -> dict[str, Any] | None:
    try:
        step = fields(value)
    except ValueError:
        return None
    return step if isinstance(step.get("updatedAt"), int) else None
