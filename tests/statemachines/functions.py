"""The workflow's three functions as `wiring` would build them, each behind a script of how it behaves."""

from threading import Condition
from typing import Any

from idempotency.ledger import Clock, Ledger
from idempotency.model import Semantics
from ingestion.idempotency_guard import guard
from ingestion.record_failure import record_failure
from ingestion.side_effect import Terms, perform
from stacks.settings import IngestionSettings
from tests.statemachines.downstream import Downstream
from tests.statemachines.faults import Script

Payload = dict[str, Any]

_PATIENCE_SECONDS = 60.0


class Functions:
    def __init__(
        self, settings: IngestionSettings, *, ledger: Ledger, clock: Clock, downstream: Downstream
    ) -> None:
        self.idempotency_guard, self.side_effect, self.record_failure = Script(), Script(), Script()
        self._settings = settings
        self._ledger = ledger
        self._clock = clock
        self._downstream = downstream
        self._calls: list[tuple[str, Payload]] = []
        self._at_work = 0
        self._changed = Condition()

    def invoke(self, name: str, payload: Payload) -> Any:
        self._calls.append((name, payload))
        script, handle = {
            "IdempotencyGuard": (self.idempotency_guard, self._guard),
            "SideEffect": (self.side_effect, self._perform),
            "RecordFailure": (self.record_failure, self._record_failure),
        }[name]
        self._count(1)
        try:
            return script.play(lambda: handle(payload))
        finally:
            self._count(-1)

    def wait_until_idle(self) -> None:
        """An invocation outlives its execution: Lambda does not hear of the execution's end."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._at_work == 0, _PATIENCE_SECONDS)

    def calls(self, name: str) -> list[Payload]:
        """The payloads of all its invocations, in their order."""
        return [payload for called, payload in self._calls if called == name]

    def _count(self, change: int) -> None:
        with self._changed:
            self._at_work += change
            self._changed.notify_all()

    def _guard(self, payload: Payload) -> Payload:
        return guard(payload, ledger=self._ledger, clock=self._clock, lease=self._settings.lease_seconds)

    def _perform(self, payload: Payload) -> dict[str, str]:
        s = self._settings
        terms = Terms(
            semantics=Semantics(s.semantics),
            lease=s.lease_seconds,
            retention=s.retention_seconds,
            task_timeout=s.task_timeout_seconds(s.functions.side_effect),
        )
        return perform(
            payload, cause=self._downstream.cause, ledger=self._ledger, clock=self._clock, terms=terms
        )

    def _record_failure(self, payload: Payload) -> dict[str, str]:
        return record_failure(
            payload, ledger=self._ledger, clock=self._clock, retention=self._settings.retention_seconds
        )
