"""On a schedule: dead-letters the events of executions that were stopped, timed out or broke down.

An execution that ends SUCCEEDED has dealt with its event; any other end is unfinished business. An end is
looked at only when nothing of its execution can still be running, and leaves a marker once it is dealt with.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import wiring
from idempotency.errors import LeaseLost
from idempotency.ledger import Clock, Ledger, current
from idempotency.model import Key, State
from ingestion.delivery import key_of
from ingestion.handled import End, HandledEnds
from queues import dead_letter
from telemetry import count, log

_ENDS = ("FAILED", "TIMED_OUT", "ABORTED")
_LOOK_BACK_SECONDS = 86_400  # on top of the machine's timeout


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """`settle` seconds after its end, no invocation of an execution is still running."""

    stepfunctions: Any
    sqs: Any
    ledger: Ledger
    handled: HandledEnds
    machine: str
    dlq_url: str
    machine_timeout: int
    settle: int
    clock: Clock

    def run(self, *, enough_time: Callable[[], bool]) -> dict[str, int]:
        """Counts of this run. What there was no time for is left to the next run."""
        handled = left = 0
        for page in self._pages():
            for end in self.handled.open_among(page):
                if not enough_time():
                    left += 1
                    continue
                handled += self._reconcile(end)
        log.info("reconciled", handled=handled, left=left)
        return {"handled": handled, "left": left}

    def _pages(self) -> Iterator[list[End]]:
        """Ends old enough to be settled, newest start first, back to the oldest start that can have one."""
        now = self.clock()
        oldest_start = now - _LOOK_BACK_SECONDS - self.machine_timeout
        paginator = self.stepfunctions.get_paginator("list_executions")
        for status in _ENDS:
            for page in paginator.paginate(stateMachineArn=self.machine, statusFilter=status, maxResults=100):
                recent = [end for end in page["executions"] if end["startDate"].timestamp() >= oldest_start]
                yield [
                    End(
                        execution=execution["executionArn"],
                        stopped_at=round(execution["stopDate"].timestamp() * 1000),
                    )
                    for execution in recent
                    if execution["stopDate"].timestamp() + self.settle <= now
                ]
                if len(recent) < len(page["executions"]):
                    break

    def _reconcile(self, end: End) -> bool:
        execution = self.stepfunctions.describe_execution(executionArn=end.execution)
        if execution["status"] not in _ENDS:
            return False  # redriven in the meantime: it is at work again
        delivery = json.loads(execution["input"])
        key = key_of(delivery)
        log.append_keys(event_key=str(key), execution=end.execution)
        state = self._settled(key, end.execution)
        if state is not State.DONE:
            reason = "in-doubt" if state is State.IN_DOUBT else "unfinished"
            dead_letter.send(
                self.sqs,
                self.dlq_url,
                body=delivery["body"],
                attributes=delivery["attributes"],
                reason=reason,
            )
            count("DeadLettered", Reason=reason)
        self.handled.add(end, now=self.clock())
        count("Reconciled", Status=execution["status"])
        log.warning("unfinished execution dealt with", state=state, status=execution["status"])
        return True

    def _settled(self, key: Key, execution: str) -> State | None:
        """The state of the event's record, after a claim that this execution left behind became IN_DOUBT."""
        stored = current(self.ledger, key, now=self.clock())
        if stored and stored.state is State.IN_PROGRESS and stored.owner == execution:
            try:
                stored = self.ledger.doubt(
                    key, owner=execution, attempt=stored.attempt, now=self.clock(), reason="unfinished"
                )
            except LeaseLost as lost:
                stored = lost.record
        return stored.state if stored else None


@log.inject_lambda_context(clear_state=True)
def handler(_event: dict[str, Any], context: Any) -> dict[str, int]:
    reconciler = Reconciler(
        stepfunctions=wiring.client("stepfunctions"),
        sqs=wiring.client("sqs"),
        ledger=wiring.ledger(),
        handled=HandledEnds(wiring.client("dynamodb"), wiring.text("LEDGER_TABLE")),
        machine=wiring.text("STATE_MACHINE_ARN"),
        dlq_url=wiring.text("DLQ_URL"),
        machine_timeout=wiring.number("MACHINE_TIMEOUT_SECONDS"),
        settle=wiring.number("SETTLE_SECONDS"),
        clock=wiring.clock,
    )
    worst_case = 5 * wiring.number("SDK_CALL_SECONDS")  # describe, read, doubt, send, mark
    return reconciler.run(enough_time=lambda: context.get_remaining_time_in_millis() / 1000 > worst_case)
