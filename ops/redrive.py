"""Brings copies from the dead-letter queue back to the work queue; wherever it stops, none is lost.

A copy is removed only after the work queue has taken it, and sent only after its record lets it be tried. If
it stops in between, a copy is on both queues, or a record is RELEASED with its copy still here: the ledger
tells duplicates, and the next redrive goes on.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from idempotency.ledger import Clock
from idempotency.model import Key, State, Verdict
from ops import audit
from ops.dead_letters import BEING_REDRIVEN_SECONDS, Copy, DeadLetters
from ops.fate import Action, Fate, fate
from ops.release import FOR_NEW_CONTENT, released
from ops.store import Stored
from ops.trouble import Trouble
from ops.workload import Event, Workload
from queues import dead_letter

_REFUSED = {"InvalidParameterValue", "InvalidMessageContents", "InvalidParameterValueException"}

Selects = Callable[[Copy, Event | None], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    copy: Copy
    key: Key | None
    fate: Fate


@dataclass(kw_only=True)
class Redrive:
    """`who` and `why` go on record with every release. `dry_run` looks and changes nothing."""

    workload: Workload
    letters: DeadLetters
    sqs: Any
    clock: Clock
    who: str
    why: str
    force: bool = False
    dry_run: bool = False
    _released: set[Key] = field(default_factory=set)

    def run(self, selects: Selects) -> Iterator[Outcome]:
        """One outcome for each copy that is selected, as it is dealt with.

        What comes back meanwhile is left: an event that fails for good must not go round and round.
        """
        began = self.clock() * 1000
        try:
            for copy in self.letters.take(hidden_seconds=BEING_REDRIVEN_SECONDS):
                event = self.workload.event_of(copy)
                if selects(copy, event):
                    yield self._settle(copy, event, began=began)
        finally:
            self.letters.put_back()

    def _settle(self, copy: Copy, event: Event | None, *, began: int) -> Outcome:
        stored = self.workload.records.read(event.key, now=self.clock()) if event else None
        record = stored.record if stored else None
        found = fate(copy, event, record, of=self.workload, now=self.clock(), force=self.force)
        if found.action is not Action.LEAVE and _given_up(copy, stored):
            found = Fate(action=Action.LEAVE, why="its content was given up: discard it once the new is done")
        if found.action is not Action.LEAVE and self._came_back(copy, event, found, began=began):
            found = Fate(
                action=Action.LEAVE, why="it came back during this redrive: look at it, then redrive"
            )
        if found.action is not Action.LEAVE and not self.dry_run:
            try:
                self._bring_back(copy, event, stored, found)
            except Trouble as trouble:
                found = Fate(action=Action.LEAVE, why=str(trouble))
        return Outcome(copy=copy, key=event.key if event else None, fate=found)

    def _came_back(self, copy: Copy, event: Event | None, found: Fate, *, began: int) -> bool:
        """By SQS's clock, or, should this machine's be wrong, because it has failed anew."""
        again = event is not None and event.key in self._released
        return copy.sent_at > began + 999 or (again and found.action is Action.RELEASE_AND_RESEND)

    def _bring_back(self, copy: Copy, event: Event | None, stored: Stored | None, found: Fate) -> None:
        """Release, send, remove: in this order."""
        if found.action is Action.RELEASE_AND_RESEND and stored is not None:
            self._release(stored)
        self._send(copy, event)
        self.letters.remove(copy)

    def _release(self, stored: Stored) -> None:
        seen, now = stored.record, self.clock()
        wanted = released(seen, now=now, retention=self.workload.retention)
        what = f"released for a redrive, was {seen.state} ({seen.reason})"
        self.workload.records.change(
            seen, wanted, audit.Entry.of(at=now, who=self.who, what=what, why=self.why)
        )
        self._released.add(seen.key)

    def _send(self, copy: Copy, event: Event | None) -> None:
        event_key = event.event_key if event else None
        try:
            dead_letter.send(
                self.sqs,
                self.workload.stack.outputs["QueueUrl"],
                body=copy.body,
                attributes=dead_letter.carried(copy.as_delivered, event_key=event_key),
                reason=copy.reason,
            )
        except ClientError as error:
            if error.response["Error"]["Code"] in _REFUSED:
                raise Trouble(f"the work queue refuses it: {error.response['Error']['Message']}") from error
            raise


def _given_up(copy: Copy, stored: Stored | None) -> bool:
    """Whether the record waits for other content than this: for that of the copies refused as a mismatch."""
    if stored is None or stored.record.state is not State.RELEASED or not stored.trail:
        return False
    return stored.trail[-1].what.startswith(FOR_NEW_CONTENT) and copy.reason != Verdict.MISMATCH
