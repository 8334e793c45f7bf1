"""Ingestion under its storm: one effect for each execution that was not skipped."""

import time

from sandbox.demo.ingestion_deployment import Ingestion
from sandbox.demo.ingestion_plan import Kind, PlannedEvent
from sandbox.demo.journal import What
from sandbox.demo.plan import Plan
from sandbox.demo.queued_storm import QueuedStorm, states
from sandbox.demo.storm import by_event, event_of
from sandbox.demo.tally import Run
from sandbox.demo.walk import Walked, walked
from sandbox.demo.workflow_deployment import BROKEN_OFF
from sandbox.downstream import Downstream

# The reason that each body which can't become an execution must have in the dead-letter queue.
_REFUSED: dict[str, str] = {Kind.NOT_JSON: "invalid-json", Kind.NO_KEY: "no-key", Kind.TOO_LARGE: "too-large"}


class IngestionStorm(QueuedStorm[PlannedEvent]):
    def __init__(self, plan: Plan[PlannedEvent], ingestion: Ingestion, downstream: Downstream) -> None:
        super().__init__(plan, ingestion)
        self._ingestion = ingestion
        self._downstream = downstream

    @property
    def effects(self) -> int:
        return self._downstream.effects_by_key().total()

    def _at_rest(self) -> None:
        """Nothing in this storm stops an execution; on a machine under load one may still time out."""
        if self._ingestion.executions(*BROKEN_OFF):
            time.sleep(self._ingestion.settle_seconds + 1)
            self._ingestion.reconcile()

    def _judge(self, seconds: float) -> Run:
        effects = by_event(self._downstream.effects_by_key())
        stories = self._stories(effects, states(self._records()), self._copies(), refused=_REFUSED)
        skipped = sum(output.get("skipped", False) for output in self._ingestion.outputs_of_executions())
        return Run(
            stories=stories,
            deliveries=self.sent,
            skipped=skipped,
            seconds=seconds,
            problems=tuple(self.problems),
        )

    def _look_back(self) -> Walked:
        self.journal.write_calls("downstream", self._downstream.calls, lambda each: event_of(each.call.key))
        walks = list(self._ingestion.walks())
        for each in walks:
            what = What.SKIPPED if "SkipDuplicate" in each.states else What.END
            event = event_of(str(each.input["businessKey"]))
            self.journal.write_dated(event, what, f"execution {each.told}", at=each.ended)
        return walked(self._ingestion.definition(), walks)
