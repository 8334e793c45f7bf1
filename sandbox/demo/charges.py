"""The charges demo: each semantics has a bank that honours idempotency keys, and a notification endpoint."""

import random
from contextlib import ExitStack
from functools import partial

from sandbox.aws import Sandbox
from sandbox.demo import both_semantics
from sandbox.demo.charges_plan import debits, notifications, plan
from sandbox.demo.charges_storm import ChargesStorm
from sandbox.demo.queued_deployment import QueuedDeployment
from sandbox.downstream import Downstream


class ChargesHalf:
    def __init__(
        self, semantics: str, started: ExitStack, *, events: int, duplicates: int, chance: random.Random
    ) -> None:
        self._semantics = semantics
        self._plan = plan(semantics[0].upper(), events=events, duplicates=duplicates, chance=chance)
        charges = {charge.id: charge for charge in self._plan.events}
        self._bank = started.enter_context(Downstream(partial(debits, charges), dedupe=True))
        self._notifications = started.enter_context(Downstream(partial(notifications, charges)))
        self.context = {
            f"bankUrl:{semantics}": self._bank.url,
            f"notificationUrl:{semantics}": self._notifications.url,
        }

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> ChargesStorm:
        deployment = QueuedDeployment(sandbox, outputs)
        # What a killed worker held comes back as soon as it can't be running any more.
        deployment.redeliver_after(deployment.configuration("Consumer")["Timeout"] + 1)
        return ChargesStorm(
            self._semantics, self._plan, deployment, bank=self._bank, notifications=self._notifications
        )


run = partial(both_semantics.run, "charges", ChargesHalf)
