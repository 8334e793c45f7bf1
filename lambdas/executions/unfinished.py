"""Executions that were stopped, timed out or broke down: each end is dealt with once, when it has settled.

An execution that ends SUCCEEDED has dealt with what it was started for; any other end is unfinished business.
An end is looked at only when nothing of its execution can still be running, and leaves a marker once it is
dealt with.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from executions.handled import End, HandledEnds
from idempotency.ledger import Clock
from telemetry import count, log

Execution = dict[str, Any]  # as DescribeExecution answers

_ENDS = ("FAILED", "TIMED_OUT", "ABORTED")
_LOOK_BACK_SECONDS = 86_400  # on top of the machine's timeout


class Unreconciled(Exception):  # noqa: N818 - what it is about, not what it is
    """Some ends could not be dealt with. Every run tries them again, until they are out of its sight."""

    def __init__(self, executions: list[str]) -> None:
        super().__init__(f"{len(executions)} executions, the first of them {executions[0]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedExecutions:
    """`settle` seconds after its end, no invocation of an execution is still running."""

    stepfunctions: Any
    handled: HandledEnds
    machine: str
    machine_timeout: int
    settle: int
    clock: Clock

    def reconcile(
        self, deal_with: Callable[[Execution], None], *, enough_time: Callable[[], bool]
    ) -> dict[str, int]:
        """How many ends it dealt with, oldest first: they are the next to be out of sight.

        What there was no time for is counted and left to the next run. An end that can't be dealt with does
        not keep the others waiting; at last this raises Unreconciled.
        """
        handled = 0
        failed: list[str] = []
        for end in sorted(self._open_ends(enough_time), key=attrgetter("stopped_at")):
            if not _in_time(enough_time):
                break
            try:
                handled += self._reconcile(end, deal_with)
            except Exception:  # noqa: BLE001 - whatever is wrong with it, its neighbours are not to blame
                log.exception("an end could not be dealt with", execution=end.execution)
                failed.append(end.execution)
        log.info("reconciled", handled=handled, failed=len(failed))
        if failed:
            raise Unreconciled(failed)
        return {"handled": handled}

    def _open_ends(self, enough_time: Callable[[], bool]) -> Iterator[End]:
        for page in self._pages():
            if not _in_time(enough_time):
                return
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

    def _reconcile(self, end: End, deal_with: Callable[[Execution], None]) -> bool:
        execution = self.stepfunctions.describe_execution(executionArn=end.execution)
        if execution["status"] not in _ENDS or not self._settled(execution):
            return False  # redriven in the meantime: at work again, or ended anew a moment ago
        deal_with(execution)
        self.handled.add(end, now=self.clock())
        count("Reconciled", Status=execution["status"])
        return True

    def _settled(self, execution: Execution) -> bool:
        return bool(execution["stopDate"].timestamp() + self.settle <= self.clock())


def _in_time(enough_time: Callable[[], bool]) -> bool:
    if enough_time():
        return True
    log.warning("out of time; the next run goes on")
    count("OutOfTime")
    return False
