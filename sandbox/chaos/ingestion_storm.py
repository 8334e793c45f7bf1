"""Ingestion under chaos: some executions break off, and are reconciled while that fails, too."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.chaos.operation import Arm
from sandbox.chaos.queued import QueuedChaos
from sandbox.chaos.reconciling import reconcile
from sandbox.demo.ingestion_plan import PlannedEvent
from sandbox.demo.ingestion_storm import IngestionStorm
from sandbox.demo.workflow_deployment import BROKEN_OFF


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenOff:
    """An execution that did not deal with its event; `id` is the event's."""

    id: str
    arn: str


class IngestionChaos(QueuedChaos[PlannedEvent], IngestionStorm):
    functions = ("Starter", "IdempotencyGuard", "SideEffect", "RecordFailure", "Reconciler")

    def _reconcile(self) -> None:
        """Its runs fail until all faults are used up, and then deal with every end."""
        rounds = list(self.campaign.armed(Arm.RECONCILING))
        if not rounds:
            return
        time.sleep(self._ingestion.settle_seconds + 1)
        ends = {end.id: end for end in self._broken_off()}
        for each in rounds:
            for event in each.events:
                if event.id in ends:
                    self.weather.arm(each, ends[event.id])
        self.problems += reconcile(self._ingestion)

    def _at_rest(self) -> None:
        if self._ingestion.executions(*BROKEN_OFF):
            self.doing = "letting executions that broke off settle"
            time.sleep(self._ingestion.settle_seconds + 1)
            self.problems += reconcile(self._ingestion)

    def _broken_off(self) -> Iterator[BrokenOff]:
        for execution in self._ingestion.executions(*BROKEN_OFF):
            delivery = self._ingestion.input_of(execution["executionArn"])
            yield BrokenOff(id=delivery["businessKey"].rpartition(":")[2], arn=execution["executionArn"])
