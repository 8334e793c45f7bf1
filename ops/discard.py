"""Ends what is not to be tried again: copies go where a record, or the operator's word, accounts for them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from idempotency.ledger import Clock
from idempotency.model import Record, State
from idempotency.transitions import conflicts
from ops.audit import Entry
from ops.dead_letters import Copy
from ops.desk import Place
from ops.fate import IN_DOUBT, Action, Fate
from ops.redrive import Outcome, Selects
from ops.trouble import Trouble
from ops.workload import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Discard:
    """`who` and `why` go on record before a copy goes. `dry_run` looks and changes nothing."""

    place: Place
    clock: Clock
    who: str
    why: str
    dry_run: bool = False

    def run(self, selects: Selects) -> Iterator[Outcome]:
        """One outcome for each copy that is selected."""
        letters = self.place.letters
        try:
            for copy in letters.take():
                event = self.place.workload.event_of(copy)
                if selects(copy, event):
                    yield self._settle(copy, event)
        finally:
            letters.put_back()

    def _settle(self, copy: Copy, event: Event | None) -> Outcome:
        stored = self.place.workload.records.read(event.key, now=self.clock()) if event else None
        record = stored.record if stored else None
        found = _fate(copy, event, record, self.place)
        if found.action is Action.DISCARD and not self.dry_run:
            try:
                self._note(record, copy)
            except Trouble as trouble:
                found = Fate(action=Action.LEAVE, why=str(trouble))
            else:
                self.place.letters.remove(copy)
        return Outcome(copy=copy, key=event.key if event else None, fate=found)

    def _note(self, record: Record | None, copy: Copy) -> None:
        if record is None:
            return
        now = self.clock()
        entry = Entry.of(at=now, who=self.who, what=f"discarded a copy ({copy.reason})", why=self.why)
        self.place.workload.records.change(record, replace(record, updated_at=now), entry)


def _fate(copy: Copy, event: Event | None, record: Record | None, place: Place) -> Fate:
    if event is None:
        return Fate(action=Action.DISCARD, why="it identifies no event")
    if record is None and copy.reason == IN_DOUBT:
        return Fate(action=Action.DISCARD, why="it was in doubt, and its record is gone")
    if record is None:
        return Fate(action=Action.LEAVE, why="nothing else tells of its event: redrive it")
    if conflicts(record, owner="", fingerprint=event.fingerprint):
        return Fate(action=Action.DISCARD, why="its key is known with other content")
    settled = {State.DONE, State.FAILED} | (set() if place.workload.stack.has_queue else {State.RELEASED})
    if record.state in settled:
        return Fate(action=Action.DISCARD, why=f"its event is {record.state}, and stays so")
    return Fate(action=Action.LEAVE, why=f"its event is {record.state}: it is not settled yet")
