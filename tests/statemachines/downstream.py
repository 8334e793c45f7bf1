"""The effect of these tests: counts what happens, and looks whether a live claim stood behind it."""

from idempotency.ledger import Clock, Ledger
from idempotency.model import Key, State
from idempotency.transitions import expired
from ingestion.effect import Event
from tests.statemachines.faults import Script


class Downstream(Script):
    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        super().__init__()
        self._ledger = ledger
        self._clock = clock
        self.asked: list[Event] = []
        self.happened: list[Event] = []
        self.without_claim: list[Event] = []

    def cause(self, event: Event) -> object:
        self.asked.append(event)
        if not self._claimed(event):
            self.without_claim.append(event)
        return self.play(lambda: self._happen(event))

    def _happen(self, event: Event) -> dict[str, int]:
        self.happened.append(event)
        return {"happened": len(self.happened)}

    def _claimed(self, event: Event) -> bool:
        namespace, pk = event.key.split("/", 1)
        record = self._ledger.read(Key(pk=pk, sk=namespace))
        return (
            record is not None
            and record.state is State.IN_PROGRESS
            and record.attempt == event.attempt
            and not expired(record.lease_until, self._clock())
        )
