"""Chaos over a workload with a queue: events in turn where calls don't tell them, together, at random."""

from typing import Generic

from sandbox.chaos.blowing import Blowing
from sandbox.chaos.operation import Arm
from sandbox.demo.beside import beside
from sandbox.demo.plan import E
from sandbox.demo.queued_storm import QueuedStorm


class QueuedChaos(Blowing[E], QueuedStorm[E], Generic[E]):
    rest_within_seconds = 300

    def _unfold(self) -> None:
        self._take_turns()
        self.doing = "one operation after the other fails"
        together = list(self.campaign.armed(Arm.SENDING, Arm.RECONCILING))
        for each in together:
            for event in each.events:
                if each.operation.arm is Arm.RECONCILING:
                    self.weather.provoke(each.operation, event)
                else:
                    self.weather.arm(each, event)
        self._send_overlapping([event for each in together for event in each.events])
        self._rest()
        reconciled = beside(self._reconcile)
        if self.campaign.at_random.events:
            self._go_at_random()
        reconciled.result()
        self.doing = "sending duplicates of what has ended"
        self._send(event.body for event in self.campaign.later)
        self._rest()
        self._at_rest()

    def _under_way(self) -> None:
        """A workload's own crash is left out: workers are killed at random."""

    def _take_turns(self) -> None:
        self.doing = "operations fail whose calls don't tell the event, one event at a time"
        for each in self.campaign.armed(Arm.IN_TURN):
            for event in each.events:
                ordered = self.weather.arm(each, event)
                self._send_overlapping([event])
                if not self.weather.met(each.fault, ordered):
                    self.problems.append(f"{event.id}: never met {each.name}")

    def _reconcile(self) -> None:
        """Some executions have broken off; a workload that has any looks after them, beside the rest."""

    def _go_at_random(self) -> None:
        with self._going_at_random():
            self._send_overlapping(self.campaign.at_random.events)
            self._queued.wait_until_quiet(seconds=self.at_random_seconds)
        self._rest()
