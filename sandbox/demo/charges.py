"""The charges demo: each semantics has a bank that honours idempotency keys, and a notification endpoint."""

from contextlib import ExitStack
from functools import partial

from sandbox.aws import Sandbox
from sandbox.demo import both_semantics
from sandbox.demo.charges_plan import ChargesPlan, debits, notifications, plan
from sandbox.demo.charges_storm import ChargesStorm
from sandbox.demo.queued_deployment import QueuedDeployment
from sandbox.downstream import Downstream


class ChargesHalf:
    def __init__(self, semantics: str, plan: ChargesPlan, started: ExitStack) -> None:
        self.semantics = semantics
        self.plan = plan
        charges = {charge.id: charge for charge in plan.events}
        self.bank = started.enter_context(Downstream(partial(debits, charges), dedupe=True))
        self.notifications = started.enter_context(Downstream(partial(notifications, charges)))
        self.context = {
            f"bankUrl:{semantics}": self.bank.url,
            f"notificationUrl:{semantics}": self.notifications.url,
        }

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> ChargesStorm:
        return ChargesStorm(
            self.semantics,
            self.plan,
            self.deployed(sandbox, outputs),
            bank=self.bank,
            notifications=self.notifications,
        )

    def deployed(self, sandbox: Sandbox, outputs: dict[str, str]) -> QueuedDeployment:
        deployment = QueuedDeployment(sandbox, outputs)
        deployment.redeliver_what_was_killed("Consumer")
        return deployment


run = partial(both_semantics.run, "charges", plan, ChargesHalf)
