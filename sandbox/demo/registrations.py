"""The registrations demo: each semantics has a registry, of which one honours idempotency keys."""

import random
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial

from sandbox.aws import Sandbox
from sandbox.demo import both_semantics
from sandbox.demo.both_semantics import IDEMPOTENT_DOWNSTREAM
from sandbox.demo.registrations_deployment import Registrations
from sandbox.demo.registrations_plan import RegistrationsPlan, expiries, notifications, plan
from sandbox.demo.registrations_storm import RegistrationsStorm
from sandbox.demo.registrations_sweep import Gardener
from sandbox.downstream import Downstream


class RegistrationsHalf:
    def __init__(self, semantics: str, plan: RegistrationsPlan, started: ExitStack) -> None:
        self.semantics = semantics
        self.plan = plan
        registrations = {registration.id: registration for registration in plan.events}
        self.registry = started.enter_context(
            Downstream(partial(expiries, registrations), dedupe=semantics == IDEMPOTENT_DOWNSTREAM)
        )
        self.notifications = started.enter_context(Downstream(partial(notifications, registrations)))
        self.context = {
            f"registryUrl:{semantics}": self.registry.url,
            f"registrationNotificationUrl:{semantics}": self.notifications.url,
        }

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> RegistrationsStorm:
        deployment = Registrations(sandbox, outputs)
        return RegistrationsStorm(
            self.semantics,
            self.plan,
            deployment,
            registry=self.registry,
            notifications=self.notifications,
            gardener=Gardener(sandbox.client("ssm"), deployment.prefix, now=int(time.time())),
        )


def draw(prefix: str, *, events: int, duplicates: int, chance: random.Random) -> RegistrationsPlan:
    """As of now."""
    return plan(prefix, events=events, duplicates=duplicates, chance=chance, now=datetime.now(UTC))


run = partial(
    both_semantics.run,
    "registrations",
    draw,
    RegistrationsHalf,
    of="registrations",
    again="told of by events as well",
)
