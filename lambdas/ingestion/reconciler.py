"""On a schedule: dead-letters the events of executions that did not deal with them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import wiring
from executions.deployed import unfinished_executions
from executions.unfinished import Execution, UnfinishedExecutions
from idempotency.errors import LeaseLost
from idempotency.ledger import Clock, Ledger, current
from idempotency.model import Key, Record, State
from idempotency.transitions import conflicts
from ingestion.delivery import key_of
from queues import dead_letter
from telemetry import count, log


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    executions: UnfinishedExecutions
    sqs: Any
    ledger: Ledger
    dlq_url: str
    clock: Clock

    def run(self, *, enough_time: Callable[[], bool]) -> dict[str, int]:
        return self.executions.reconcile(self._dead_letter, enough_time=enough_time)

    def _dead_letter(self, execution: Execution) -> None:
        """Unless its event is done."""
        arn = execution["executionArn"]
        delivery = json.loads(execution["input"])
        key = key_of(delivery)
        stored = self._record(key, arn)
        reason = _reason(stored, arn, delivery.get("fingerprint"))
        if reason is not None:
            dead_letter.send(
                self.sqs,
                self.dlq_url,
                body=delivery["body"],
                attributes=delivery["attributes"],
                reason=reason,
            )
            count("DeadLettered", Reason=reason)
        log.warning(
            "unfinished execution dealt with",
            event_key=str(key),
            execution=arn,
            status=execution["status"],
            reason=reason,
        )

    def _record(self, key: Key, execution: str) -> Record | None:
        """The event's record, after a claim that this execution left behind became IN_DOUBT."""
        stored = current(self.ledger, key, now=self.clock())
        if stored and stored.state is State.IN_PROGRESS and stored.owner == execution:
            try:
                return self.ledger.doubt(
                    key, owner=execution, attempt=stored.attempt, now=self.clock(), reason="unfinished"
                )
            except LeaseLost as lost:
                return lost.record
        return stored


def _reason(stored: Record | None, execution: str, fingerprint: str | None) -> str | None:
    """Why the message is a dead letter; None if its event is done."""
    if stored is None:
        return "unfinished"
    if conflicts(stored, owner=execution, fingerprint=fingerprint):
        return "mismatch"
    match stored.state:
        case State.DONE:
            return None
        case State.IN_DOUBT:
            return "in-doubt"
        case _:
            return "unfinished"


@log.inject_lambda_context(clear_state=True)
def handler(_event: dict[str, Any], context: Any) -> dict[str, int]:
    reconciler = Reconciler(
        executions=unfinished_executions(markers=wiring.text("LEDGER_TABLE")),
        sqs=wiring.client("sqs"),
        ledger=wiring.ledger(),
        dlq_url=wiring.text("DLQ_URL"),
        clock=wiring.clock,
    )
    worst_case = 5 * wiring.number("SDK_CALL_SECONDS")  # describe, read, doubt, send, mark
    return reconciler.run(enough_time=lambda: context.get_remaining_time_in_millis() / 1000 > worst_case)
