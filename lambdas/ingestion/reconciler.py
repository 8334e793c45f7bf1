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
from idempotency.model import Key, Record, State
from idempotency.transitions import conflicts
from ingestion.delivery import key_of
from ingestion.handled import End, HandledEnds
from queues import dead_letter
from telemetry import count, log

_ENDS = ("FAILED", "TIMED_OUT", "ABORTED")
_LOOK_BACK_SECONDS = 86_400  # on top of the machine's timeout


class Unreconciled(Exception):  # noqa: N818 - what it is about, not what it is
    """Some ends could not be dealt with. Every run tries them again, until they are out of its sight."""

    def __init__(self, executions: list[str]) -> None:
        super().__init__(f"{len(executions)} executions, the first of them {executions[0]}")


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
        """How many ends it dealt with; what there was no time for is left to the next run.

        An end that can't be dealt with does not keep the others waiting; at last this raises Unreconciled.
        """
        handled = 0
        failed: list[str] = []
        for end in self._open_ends():
            if not enough_time():
                log.warning("out of time; the next run goes on")
                break
            try:
                handled += self._reconcile(end)
            except Exception:  # noqa: BLE001 - whatever is wrong with it, its neighbours are not to blame
                log.exception("an end could not be dealt with", execution=end.execution)
                failed.append(end.execution)
        log.info("reconciled", handled=handled, failed=len(failed))
        if failed:
            raise Unreconciled(failed)
        return {"handled": handled}

    def _open_ends(self) -> Iterator[End]:
        for page in self._pages():
            yield from self.handled.open_among(page)

    def _pages(self) -> Iterator[list[End]]:
        """Ends that have settled, back to a day (and the machine's timeout) ago.

        Closed executions are listed by the time of their end, latest first (API reference of ListExecutions).
        The start says nothing: an execution can be redriven for two weeks, and keeps it.
        """
        oldest_end = self.clock() - _LOOK_BACK_SECONDS - self.machine_timeout
        paginator = self.stepfunctions.get_paginator("list_executions")
        for status in _ENDS:
            for page in paginator.paginate(stateMachineArn=self.machine, statusFilter=status, maxResults=100):
                recent = [end for end in page["executions"] if end["stopDate"].timestamp() >= oldest_end]
                yield [
                    End(
                        execution=execution["executionArn"],
                        stopped_at=round(execution["stopDate"].timestamp() * 1000),
                    )
                    for execution in recent
                    if self._settled(execution)
                ]
                if page["executions"] and not recent:
                    break

    def _reconcile(self, end: End) -> bool:
        execution = self.stepfunctions.describe_execution(executionArn=end.execution)
        if execution["status"] not in _ENDS or not self._settled(execution):
            return False  # redriven in the meantime: at work again, or ended anew a moment ago
        delivery = json.loads(execution["input"])
        key = key_of(delivery)
        stored = self._record(key, end.execution)
        reason = _reason(stored, end.execution, delivery.get("fingerprint"))
        if reason is not None:
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
        log.warning(
            "unfinished execution dealt with",
            event_key=str(key),
            execution=end.execution,
            status=execution["status"],
            reason=reason,
        )
        return True

    def _settled(self, execution: dict[str, Any]) -> bool:
        return bool(execution["stopDate"].timestamp() + self.settle <= self.clock())

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
